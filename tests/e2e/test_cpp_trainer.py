"""Trainers of users in C++: examples/cpp_trainer is built out of tree, as its readers do, and taken in by the worker."""

import json
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import unittest

from disturbing import draw_from_seed
from service import BIN, Service
from test_identity import DISTURBANCES, Subject, trained_both_ways

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = tempfile.TemporaryDirectory(prefix="espalier-cpp-trainer-")
BUILD = pathlib.Path(FOLDER.name) / "build"
LIBRARY = BUILD / "liblenet.so"


def torch_folder():
    """As the worker was configured."""
    lines = (BIN.parent / "CMakeCache.txt").read_text().splitlines()
    return next(line.partition("=")[2] for line in lines if line.startswith("ESPALIER_TORCH_DIR:"))


def setUpModule():
    source = ROOT / "examples" / "cpp_trainer"
    for command in (
        ["cmake", "-S", source, "-B", BUILD, f"-DESPALIER={ROOT}", f"-DESPALIER_TORCH_DIR={torch_folder()}", "-DCMAKE_BUILD_TYPE=Release"],
        ["cmake", "--build", BUILD],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{command} failed:\n{done.stdout}{done.stderr}")


def tearDownModule():
    FOLDER.cleanup()


def check(library, *arguments):
    worker = shlex.join([str(BIN / "espalier-worker"), "--trainer", str(library)])
    return subprocess.run([BIN / "espalier", "trainer", "check", *arguments, "--worker", worker], capture_output=True, text=True, check=False)


class CppTrainerTest(unittest.TestCase):
    def test_a_trainer_in_a_library_can_be_cut_anywhere(self):
        checked = check(LIBRARY, "lenet", "--set", "dropout=0.1", "--set", "crop=1", "--output", "json")
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        report = json.loads(checked.stdout)
        self.assertTrue(report["passed"])
        self.assertIn("crop", [change["name"] for change in report["changes"]])

    def test_random_trials_end_as_if_each_had_been_trained_alone_whatever_happens_to_their_training(self):
        worker = shlex.join([str(BIN / "espalier-worker"), "--trainer", str(LIBRARY), "--data", "digits"])
        subject = Subject("lenet", "test_acc", {"optimizer": ["sgd", "adam"], "dropout": [0.1], "crop": [0, 1]}, 20, data="digits")
        with Service(up_options=["--worker", worker]) as service:
            self.assertEqual(*trained_both_ways(service, subject, 0, draw_from_seed(), DISTURBANCES))

    def test_a_study_names_the_library_and_its_servers_get_it(self):
        text = """study: lenet
trainer: library:liblenet.so
data: digits
step: 5 updates
hyper_parameters: {lr: [0.01, "MultiStep(0.01, [2], gamma=0.1)"]}
metric: {name: test_acc, goal: max}
tuner: {grid: {steps: 4}}
"""
        with Service() as service:
            shutil.copy(LIBRARY, service.root)
            self.assertEqual(service.run("trainer", "check", service.write("lenet.yaml", text), check=False).returncode, 0)
            service.run("study", "run", service.root / "lenet.yaml")
            self.assertEqual(service.json("study", "show", "lenet")["steps"]["trained"], 6)
            other = text.replace("liblenet.so", "liblenet.so:other")
            refused = service.run("study", "run", service.write("other.yaml", other), check=False)
            self.assertIn("other.yaml:2: trainer: library:liblenet.so:other has no such trainer", refused.stderr)
            self.assertIn("lenet", refused.stderr.rpartition("one of:")[2])

    def test_a_library_that_is_none_or_was_built_for_another_worker_is_refused(self):
        content = LIBRARY.read_bytes()
        other = BUILD / "libother.so"
        other.write_bytes(content.replace(b"espalier trainers 2", b"espalier trainers 0"))
        for library, why in ((other, "build it again"), ("libz.so", "libz.so"), (self.some_library(), "it is no library of trainers")):
            refused = check(library, "lenet")
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn(why, refused.stderr)

    def some_library(self):
        source = BUILD / "nothing.c"
        source.write_text("int nothing;\n")
        library = BUILD / "libnothing.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        return library


if __name__ == "__main__":
    unittest.main()
