"""PostgreSQL's disk is full: nothing that was acknowledged is lost, and when there is room again the study goes on by itself to the
same result. Needs root, for a small file system of its own."""

import contextlib
import os
import subprocess
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


def study(name):
    return STUDY.format(name=name, values=", ".join(f'"Piecewise([{i}, {i + 1}], [4])"' for i in range(30)))


@contextlib.contextmanager
def own_file_system(folder, copy):
    """Puts a stopped service's cluster on a file system of its own."""
    subprocess.run(["cp", "-a", folder, copy], check=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder], capture_output=True, text=True)
    if mounted.returncode != 0:
        raise unittest.SkipTest(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        subprocess.run(["cp", "-a", f"{copy}/.", folder], check=True)
        subprocess.run(["rm", "-r", copy], check=True)
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


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
                wait_until(lambda: not [p for p in service.seen_pids if service.alive(p)], "PostgreSQL has ended")
            service.start()


if __name__ == "__main__":
    unittest.main(verbosity=2)
