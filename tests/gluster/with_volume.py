#!/usr/bin/env python3
"""with_volume.py COMMAND ...: runs it with a volume of one brick: ESPALIER_GLUSTER says where, ESPALIER_GLUSTER_TAKE_AWAY and
ESPALIER_GLUSTER_BRING_BACK are commands of the shell. REQUIRES: tests/with_gluster.sh runs this."""

import os
import shlex
import subprocess
import sys

from volume import NAME, Volume

with Volume() as volume:
    server = volume.servers[0]
    kill_brick = "kill -9 $(cat /run/gluster/vols/*/*.pid)"
    start_brick = shlex.join(["gluster", "--mode=script", "volume", "start", NAME, "force"]) + " >&2"
    environment = dict(os.environ, ESPALIER_GLUSTER=volume.location,
                       ESPALIER_GLUSTER_TAKE_AWAY=shlex.join(server.within("sh", "-c", kill_brick)),
                       ESPALIER_GLUSTER_BRING_BACK=shlex.join(server.within("sh", "-c", start_brick)))
    status = subprocess.call(sys.argv[1:], env=environment)
sys.exit(status)
