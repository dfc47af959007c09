"""A node manager that will be killed: it starts a worker whose loader processes never finish, says so, and waits."""

import os
import signal
import sys

from cuts import Trial, begin
from fake_node_manager import HERE, Worker

os.set_inheritable(int(os.environ["HELD"]), True)
worker = Worker(HERE / "trainers" / "odd.py:Stuck", f"{sys.argv[1]}/log", inherited=[int(os.environ["HELD"])])
begin(worker, Trial())
worker.train()
worker.send("train", step=2)
with open(os.environ["NEVER"], "rb", buffering=0):  # returns once a loader process has opened it
    print("loader processes run", flush=True)
    signal.pause()
