"""What a client of a chaos run was told, kept beside the service: lines of JSON, synced, that outlive the client."""

import json
import os
import time


class Journal:
    def __init__(self, path):
        self.path = path
        self.file = open(path, "ab")
        if self.file.tell() > 0 and not path.read_bytes().endswith(b"\n"):
            self.file.write(b"\n")  # it was killed as it wrote

    def write(self, kind, **fields):
        self.file.write(json.dumps({"kind": kind, "at": time.time(), **fields}).encode() + b"\n")
        self.file.flush()
        os.fsync(self.file.fileno())

    def entries(self):
        return read(self.path)


def read(path):
    entries = []
    for line in path.read_bytes().splitlines() if path.exists() else []:
        try:
            entries.append(json.loads(line))
        except ValueError:
            pass  # of a client that was killed as it wrote
    return entries
