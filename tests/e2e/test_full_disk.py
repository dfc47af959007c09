"""PostgreSQL's disk is full: nothing that was acknowledged is lost, and when there is room again the study goes on by itself to the
same result. The checkpoints' disk is full: what is not needed makes room. Needs root, for small file systems of its own."""

import contextlib
import os
import subprocess
import tempfile
import unittest

from service import Service, results, wait_until

SIZE = "192m"
STUDY = """
study: {name}
trainer: synthetic
hyper_parameters:
  a: [{values}]
  b: [{values}]
metric: {{name: test_acc, goal: max}}
tuner: {{grid: {{steps: 8}}}}
share: study
"""

WIDE = """
study: {name}
trainer: mlp
data: digits
step: 5 updates
hyper_parameters: {{lr: [{rates}], hidden: 400}}
metric: {{name: test_acc, goal: max}}
tuner: {{grid: {{steps: 2}}}}
share: nobody
"""


def study(name):
    return STUDY.format(name=name, values=", ".join(f'"Piecewise([{i}, {i + 1}], [4])"' for i in range(30)))


@contextlib.contextmanager
def file_system(folder, size):
    """A small one of its own in the folder."""
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True, text=True)
    if mounted.returncode != 0:
        raise unittest.SkipTest(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@contextlib.contextmanager
def own_file_system(folder, copy):
    """Puts a stopped service's cluster on a file system of its own."""
    subprocess.run(["cp", "-a", folder, copy], check=True)
    with file_system(folder, SIZE):
        subprocess.run(["cp", "-a", f"{copy}/.", folder], check=True)
        subprocess.run(["rm", "-r", copy], check=True)
        yield


def fill(path):
    """Takes all the room that is left."""
    with open(path, "wb", buffering=0) as file:
        with contextlib.suppress(OSError):
            while True:
                file.write(bytes(1 << 16))


@unittest.skipUnless(os.geteuid() == 0, "needs root, to mount a file system")
class FullDiskTest(unittest.TestCase):
    def test_a_full_disk_stops_nothing_for_good(self):
        with Service() as service:
            service.run("study", "run", service.write("study.yaml", study("undisturbed")))
            expected = results(service, "undisturbed")
            service.stop()
            cluster = service.data / "postgres"
            with own_file_system(cluster, service.root / "cluster"):
                service.start()
                fill(cluster / "filler")
                run = service.begin("study", "run", service.write("study.yaml", study("full")))
                log = service.data / "logs" / "master.log"
                wait_until(lambda: "No space left on device" in log.read_text() or run.poll() is not None,
                           "the disk is too full to commit")
                self.assertIsNone(run.poll(), "the disk was not full enough")
                os.remove(cluster / "filler")
                _, errors = run.communicate(timeout=300)
                self.assertEqual(run.returncode, 0, errors)
                self.assertEqual(results(service, "full"), expected)
                steps = service.json("study", "show", "full")["steps"]
                self.assertEqual(steps["wasted"], 0)
                self.assertEqual(steps["trained"] - steps["re_derived"], steps["unique"])
                service.stop()
                wait_until(lambda: not service.living(), "PostgreSQL has ended")
            service.start()

    def test_checkpoints_that_nobody_needs_make_room_where_their_disk_is_full(self):
        with tempfile.TemporaryDirectory(prefix="espalier full ") as folder, file_system(folder, "3m"):
            os.chmod(folder, 0o777)
            with Service(up_options=["--checkpoints", f"{folder}/store"], worker="espalier-worker") as service:
                service.run("study", "run", service.write("one.yaml", WIDE.format(name="one", rates="0.1")))
                bytes_each = service.json("checkpoint", "list", "one")[0]["bytes"]
                rates = ", ".join(f"0.{i}" for i in range(1, 10))
                self.assertGreater(9 * bytes_each, 2 * 3 * 1024 * 1024)
                service.run("study", "run", service.write("many.yaml", WIDE.format(name="many", rates=rates)))
                trials = service.json("trial", "list", "many")
                self.assertEqual([(trial["state"], trial["steps"]) for trial in trials], [("done", 2)] * 9)
                self.assertNotIn("", [trial["state_sha256"] for trial in trials])
                log = (service.data / "logs" / "master.log").read_text()
                self.assertIn("checkpoint evicted", log)
                # What has gone is trained again where it is asked for.
                service.run("trial", "extend", str(trials[0]["id"]), "--steps", "3")
                self.assertEqual(service.json("study", "show", "many")["steps"]["wasted"], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
