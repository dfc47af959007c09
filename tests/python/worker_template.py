"""`python worker_template.py N`: a process that has imported what every worker imports, and becomes workers by forking, as it is asked
over the socket N: PyTorch takes three seconds to import, more than most tests compute. It ends with the other side."""

import json
import os
import socket
import sys
import traceback

import torch._dynamo  # noqa: F401 - whoever makes an optimizer imports it

from espalier import worker


def become(arguments, environment, output, end):
    """The worker, whose socket is `end`. Does not return."""
    status = 1
    try:
        os.environ.update(environment)
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.argv = ["espalier.worker", *arguments, "--fd", str(end)]
        worker.main()
        status = 0
    except SystemExit as wanted:
        if isinstance(wanted.code, str):
            print(wanted.code, file=sys.stderr)
        else:
            status = wanted.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def main(asked):
    while True:
        content, handles, _, _ = socket.recv_fds(asked, 1 << 16, 2)
        if not content:
            return
        request = json.loads(content)
        if "wait" in request:
            pid, status = os.waitpid(request["wait"], 0 if request["blocks"] else os.WNOHANG)
            asked.send(json.dumps(os.waitstatus_to_exitcode(status) if pid else None).encode())
            continue
        pid = os.fork()
        if pid == 0:
            asked.close()
            become(request["arguments"], request["environment"], *handles)
        for each in handles:
            os.close(each)
        asked.send(json.dumps(pid).encode())


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
