"""What happens to the world of a chaos run. Each fault is a function of (world, draw) and returns (what it was, the seconds that it lasts, what
ends it), or None: it cannot happen now."""

import os
import signal
import time


def kill_master(world, draw):
    master = draw.choice(world.masters)
    pause = draw.uniform(0, 8)
    master.kill(start_after=pause)
    return f"{master.name} killed, back after {pause:.0f} s", 0, None


def freeze_master(world, draw):
    return freeze(draw.choice(world.masters), draw.uniform(2, 15))


def kill_node(world, draw):
    node, pause = draw.choice(world.nodes), draw.uniform(0, 20)
    node.kill(start_after=pause)
    return f"node manager of {node.name} killed, back after {pause:.0f} s", 0, None


def freeze_node(world, draw):
    return freeze(draw.choice(world.nodes), draw.uniform(2, 20))


def stop_node(world, draw):
    """As a service manager that restarts it: it saves what is trained."""
    node = draw.choice(world.nodes)
    node.send(signal.SIGTERM)
    return f"node manager of {node.name} asked to stop", 0, None


def kill_worker(world, draw):
    node = draw.choice(world.nodes)
    worker = world.worker_of(node) if node.is_alive() else None
    if worker is None:
        return None
    try:
        os.kill(worker, signal.SIGKILL)
    except ProcessLookupError:
        return None
    return f"worker of {node.name} killed", 0, None


def kill_client(world, draw):
    client = draw.choice(world.clients)
    client.kill()
    return f"{client.name} killed", 0, None


def freeze_client(world, draw):
    return freeze(draw.choice(world.clients), draw.uniform(2, 20))


def cut(world, draw):
    name, links = draw_links(world, draw)
    for link in links:
        link.cut()
    return f"{name} cut", draw.uniform(2, 25), lambda: [link.mend() for link in links]


def slow(world, draw):
    name, links = draw_links(world, draw)
    delay = draw.uniform(0.1, 1.0)
    for link in links:
        link.slow(delay)
    return f"{name} slow by {delay:.1f} s", draw.uniform(5, 30), lambda: [link.mend() for link in links]


def cut_database(world, draw):
    index = draw.randrange(2)
    link = world.database_links[index]
    link.cut()
    return f"{world.masters[index].name} cut from the database", draw.uniform(1, 10), link.mend


def crash_database(world, draw):
    if not world.database_busy.acquire(blocking=False):
        return None
    try:
        world.stop_postgres("immediate")
        pause = draw.uniform(0, 5)
        time.sleep(pause)
        world.start_postgres()
        return f"database crashed, back after {pause:.0f} s", 0, None
    finally:
        world.database_busy.release()


def fill_disk(world, draw):
    """The store's, that of all work directories, or the database's."""
    name = draw.choice(("store", "work", "cluster"))
    if name == "cluster" and not world.database_busy.acquire(blocking=False):
        return None
    filler = world.root / name / "filler"
    with open(filler, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 16))
        except OSError:
            pass

    def make_room():
        filler.unlink()
        if name == "cluster":
            world.database_busy.release()

    return f"disk of the {name} full", draw.uniform(2, 15), make_room


def lose_checkpoints(world, draw):
    files = sorted(path for path in (world.root / "store" / "files").rglob("*") if path.is_file() and path.name != ".espalier-store")
    lost = [path for path in files if draw.random() < 0.2]
    for path in lost:
        path.unlink(missing_ok=True)
    return f"{len(lost)} of {len(files)} checkpoint files lost", 0, None


def restore(world, draw):
    """The database goes back to a backup, as docs/operations.md says."""
    if not world.database_busy.acquire(blocking=False):
        return None
    try:
        begun = time.time()
        world.documented("pg_dump")
        time.sleep(draw.uniform(10, 40))
        for master in world.masters:
            master.send(signal.SIGCONT)
            master.hold()
        ended = time.time()
        world.documented("pg_restore")
        world.restores.append((begun, ended))
        world.release(*world.masters)
        return f"database restored, {ended - begun:.0f} s of it lost", 0, None
    finally:
        world.database_busy.release()


def draw_links(world, draw):
    """Of a group of servers or of a client: to one master, or to both."""
    of_nodes = draw.random() < 0.7
    groups = world.node_links if of_nodes else world.client_links
    index = draw.randrange(len(groups))
    links = draw.choice([groups[index], groups[index][:1], groups[index][1:]])
    return f"links of {'servers of group' if of_nodes else 'client'} {index}", links


def freeze(program, seconds):
    program.send(signal.SIGSTOP)
    return f"{program.name} frozen", seconds, lambda: program.send(signal.SIGCONT)


# How often each comes, against the others. `restore` comes twice a run.
WEIGHTS = {kill_master: 2, freeze_master: 2, kill_node: 4, freeze_node: 3, stop_node: 2, kill_worker: 4, kill_client: 3, freeze_client: 2,
           cut: 4, slow: 3, cut_database: 2, crash_database: 1, fill_disk: 2, lose_checkpoints: 1}  # fmt: skip
