"""Ways through which a chaos run's processes reach each other, so that they can be cut and made slow."""

import asyncio
import threading

CHUNK_BYTES = 1 << 14


class Links:
    """The thread that carries what goes over links. Close it last."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def add(self, host, port, connect):
        """A link that listens there; `connect`, a coroutine function, opens a way to its other end: (reader, writer)."""
        link = Link(self.loop, connect)
        asyncio.run_coroutine_threadsafe(link.listen(host, port), self.loop).result()
        return link

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()


class Link:
    """While it is cut nothing passes, and neither end is told; when it is slow each piece takes so much longer."""

    def __init__(self, loop, connect):
        self.loop = loop
        self.connect = connect
        self.delay_seconds = 0.0
        self.passes = asyncio.Event()
        self.carriers = set()

    async def listen(self, host, port):
        self.passes.set()
        self.server = await asyncio.start_server(self.accept, host, port)
        self.port = self.server.sockets[0].getsockname()[1]

    def cut(self):
        self.loop.call_soon_threadsafe(self.passes.clear)

    def mend(self):
        self.delay_seconds = 0.0
        self.loop.call_soon_threadsafe(self.passes.set)

    def slow(self, seconds):
        self.delay_seconds = seconds

    async def accept(self, reader, writer):
        await self.passes.wait()
        try:
            far_reader, far_writer = await self.connect()
        except OSError:
            return writer.close()
        for source, sink in ((reader, far_writer), (far_reader, writer)):
            task = self.loop.create_task(self.carry(source, sink))
            self.carriers.add(task)
            task.add_done_callback(self.carriers.discard)

    async def carry(self, source, sink):
        try:
            while data := await source.read(CHUNK_BYTES):
                if self.delay_seconds > 0:
                    await asyncio.sleep(self.delay_seconds)
                await self.passes.wait()
                sink.write(data)
                await sink.drain()
            await self.passes.wait()
        except OSError:
            pass  # one end is gone
        sink.close()
