"""GPUs as NVIDIA's management library tells of them: a node manager finds them, and says what training makes of them. The library is
one of the tests' own, so no GPU is needed."""

import pathlib
import shutil
import tempfile
import unittest

import studies
from service import BIN, ServiceWithServer, wait_until

LIBRARIES = BIN.parent / "fake_nvml"
GPUS = """0
GPU-a 24000000000 6000000000 60 0 0
GPU-b 48000000000 6000000000 60 0 0
"""
LOST = GPUS.replace(" 60 0 0", " 60 15 0")
SLOW = 300  # updates a step: a GPU is looked at once a second


def grid(name, rates):
    return studies.grid(name, rates, 30, updates=SLOW)


class GpusTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="espalier gpus "))
        self.addCleanup(shutil.rmtree, self.folder)
        self.gpus = self.folder / "gpus"
        self.gpus.write_text(GPUS)

    def service(self, lines=""):
        """Nothing is trained but on the second server."""
        runtime = f'runtimes {{ name: "built-in" command: "{BIN}/espalier-worker" }}'
        environment = {"LD_LIBRARY_PATH": str(LIBRARIES), "FAKE_NVML": str(self.gpus)}
        return ServiceWithServer("gpus", lines + runtime, environment, slots=1)

    @staticmethod
    def devices(service):
        server = next(s for s in service.json("server", "list") if s["name"] == "gpus")
        return [(d["name"], d["type"], d["slots"], d["memory_bytes"]) for d in server["devices"]]

    @staticmethod
    def utilizations(service, study):
        return [node["costs"]["utilization"] for node in service.json("plan", "show", study)]

    def test_gpus_are_found_where_the_configuration_names_no_device_and_their_use_is_measured_until_they_are_lost(self):
        with self.service() as service:
            self.assertEqual(self.devices(service), [("gpu-0", "gpu", 1, 24 * 10**9), ("gpu-1", "gpu", 1, 48 * 10**9)])
            local = next(s["name"] for s in service.json("server", "list") if s["name"] != "gpus")
            service.run("server", "drain", local)
            service.run("study", "run", service.write("seen.yaml", grid("seen", ["0.1"])))
            [node] = service.json("plan", "show", "seen")
            self.assertEqual((node["costs"]["utilization"], node["costs"]["device_memory_bytes"]), (0.6, 6 * 10**9))
            self.assertEqual(service.json("stage", "explain", f"{node['id']}@30")["costs"], node["costs"])
            running = service.begin("study", "run", service.write("lost.yaml", grid("lost", ["0.2"])))
            self.gpus.write_text(LOST)
            _, errors = running.communicate()
            self.assertEqual(running.returncode, 0, errors)
            self.assertEqual(service.log().count("GPU is lost"), 1, service.log())

    def test_devices_that_the_configuration_names_are_those_that_there_are(self):
        with self.service('devices { gpus: "1" name: "mine" gpu_memory_bytes: 5 } ') as service:
            self.assertEqual(self.devices(service), [("mine", "gpu", 1, 5)])
        with self.service("slot_count: 3 ") as service:
            self.assertEqual(self.devices(service), [("cores-0", "cores", 3, None)])

    def test_without_a_driver_a_server_trains_on_its_cores_and_says_once_why(self):
        self.gpus.write_text("9\n")
        with self.service() as service:
            self.assertEqual([kind for _, kind, _, _ in self.devices(service)], ["cores"])
            self.assertEqual(service.log().count("Driver Not Loaded"), 1, service.log())


if __name__ == "__main__":
    unittest.main(verbosity=2)
