"""Users' own code as it travels: what goes into an archive, and what comes out of it elsewhere."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile
from unittest import mock

from fake_node_manager import Worker, python_worker

from espalier import archive, file_digests, identity
from espalier.failure import TrainerError
from espalier.worker import trainer_in

TRAINER = """
import espalier as es
import helper_of_archive

class Mine(es.Trainer):
    {settings}
    def train(self):
        return {{"loss": helper_of_archive.half(1), "samples": 1}}
"""

WRITER = """
import pathlib
import torch
import espalier as es
from helper_of_archive import half

class Mine(es.Trainer):
    data = es.files("points.csv")
    def init(self, hp):
        self.weights = torch.zeros(1)
        self.seed = hp["seed"]
        self.track(self.weights)
    def train(self):
        torch.save(self.seed, "model.pt")
        return {"loss": half(1), "samples": 1}
    def evaluate(self):
        rows = open("points.csv").read().splitlines()
        assert rows == pathlib.Path(__file__).with_name("points.csv").read_text().splitlines()
        return {"written": torch.load("model.pt"), "rows": len(rows)}
"""


class ArchiveTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.home = self.root / "home"
        for patch in [mock.patch.object(file_digests, "CACHE", self.root / "cache"), mock.patch.object(sys, "path", [*sys.path])]:
            patch.start()
            self.addCleanup(patch.stop)
        for name, text in {"helper_of_archive.py": "half = lambda x: x / 2", "words.txt": "a b", "stranger.py": "",
                           "data/train/1.csv": "1,2", "points.csv": "3,4"}.items():  # fmt: skip
            self.write(name, text)

    def write(self, name, text):
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def trainer(self, folder):
        for name in ("mine", "helper_of_archive"):
            sys.modules.pop(name, None)
        return trainer_in(f"{folder}/mine.py:Mine")

    def pack(self, settings="", name="archive.zip"):
        """(archive, paths of data)."""
        self.write("mine.py", TRAINER.format(settings=settings))
        trainer_class = self.trainer(self.home)
        members = archive.members_of(trainer_class, self.home / "mine.py")
        data = archive.data_beside(trainer_class, self.home, members)
        archive.write(members, self.root / name)
        return self.root / name, data

    def unpacked(self, packed, data=()):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.root))
        archive.unpack(packed, self.home, data, folder)
        return folder

    def refusal(self, settings):
        with self.assertRaises(TrainerError) as refused:
            self.pack(settings)
        return str(refused.exception)

    def test_it_holds_what_the_trainer_imports_and_the_files_that_it_names_and_nothing_else(self):
        packed, _ = self.pack('files = ["words.txt", "data"]')
        self.assertEqual(zipfile.ZipFile(packed).namelist(), ["data/train/1.csv", "helper_of_archive.py", "mine.py", "words.txt"])

    def test_the_same_code_makes_the_same_bytes_whenever_it_was_written(self):
        first, _ = self.pack()
        os.utime(self.home / "helper_of_archive.py", (1, 1))
        second, _ = self.pack(name="second.zip")
        self.assertEqual(first.read_bytes(), second.read_bytes())
        self.write("helper_of_archive.py", "half = lambda x: x / 3")
        self.assertNotEqual(self.pack(name="third.zip")[0].read_bytes(), first.read_bytes())

    def test_unpacked_elsewhere_it_is_the_same_trainer_of_the_same_data(self):
        packed, data = self.pack('files = ["words.txt"]; data = es.files("points.csv", "data/train")')
        self.assertEqual(data, ["data/train", "points.csv"])
        here = identity.describe(self.trainer(self.home))
        folder = self.unpacked(packed, data)
        self.assertEqual((folder / "data/train/1.csv").read_text(), "1,2")
        self.assertEqual(identity.describe(self.trainer(folder)), here)
        self.write("points.csv", "5,6")
        self.assertNotEqual(identity.describe(self.trainer(folder))[1], here[1])

    def test_two_workers_write_one_file_name_and_do_not_meet_and_nothing_stays_when_they_end(self):
        self.write("mine.py", WRITER)
        members = archive.members_of(self.trainer(self.home), self.home / "mine.py")
        archive.write(members, self.root / "archive.zip")
        command = [*python_worker("mine.py:Mine"), "--archive", self.root / "archive.zip", "--folder", self.home, "--data=points.csv"]
        own = self.root / "temporary"
        own.mkdir()
        environment = {"ESPALIER_TEMPORARY": str(own)}
        workers = [Worker(None, self.root / f"log{number}", environment, command=command) for number in range(2)]
        for number, worker in enumerate(workers):
            self.addCleanup(worker.__exit__)
            worker.init({"seed": number}, 1)
            worker.setup_all({})
            worker.train()
        self.assertEqual([worker.evaluate() for worker in workers], [{"written": number, "rows": 1} for number in range(2)])
        self.assertEqual(sorted(each.name for each in self.root.iterdir()), ["archive.zip", "home", "log0", "log1", "temporary"])
        self.assertEqual(len([*own.glob("*/model.pt")]), 2)
        self.assertEqual([worker.stop() for worker in workers], [0, 0])
        self.assertEqual(list(own.iterdir()), [])
        self.assertFalse((self.home / "model.pt").exists())

    def test_data_by_absolute_paths_is_where_it_is(self):
        _, data = self.pack(f'data = es.files({str(self.home / "points.csv")!r})')
        self.assertEqual(data, [])

    def test_data_that_changes_is_seen_and_data_that_is_elsewhere_is_not(self):
        self.pack('data = es.files("points.csv")')
        before = archive.data_seen(self.trainer(self.home), self.home)
        self.write("points.csv", "5,6,7")
        self.assertNotEqual(archive.data_seen(self.trainer(self.home), self.home), before)
        (self.home / "points.csv").unlink()
        self.assertEqual(archive.data_seen(self.trainer(self.home), self.home), "")

    def test_what_cannot_travel_is_refused_with_the_field(self):
        (self.root / "beside").write_text("x")
        self.assertIn("files:", self.refusal('files = ["../beside"]'))
        self.assertIn("data:", self.refusal('data = es.files("../elsewhere")'))
        self.assertIn("data:", self.refusal('data = es.files(".")'))
        self.write("code/__init__.py", "")
        self.assertIn("code/__init__.py", self.refusal('files = ["code/__init__.py"]; data = es.files("code")'))
        self.assertIn("nothing.txt", self.refusal('files = ["nothing.txt"]'))
        (self.home / "large.bin").write_bytes(bytes(archive.BYTES_MAX))
        self.assertIn("es.files", self.refusal('files = ["large.bin"]'))

    def test_an_archive_that_would_reach_out_of_its_folder_is_not_unpacked(self):
        for name in ("../out.py", "/etc/out.py", "a/../../out.py", "a\\..\\out.py", "a//b.py"):
            with self.subTest(name=name):
                evil = self.root / "evil.zip"
                with zipfile.ZipFile(evil, "w") as opened:
                    opened.writestr(name, "")
                folder = pathlib.Path(tempfile.mkdtemp(dir=self.root))
                self.assertRaises(TrainerError, archive.unpack, evil, "/", [], folder)
                self.assertEqual(list(folder.iterdir()), [])
        bomb = self.root / "bomb.zip"
        with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as opened:
            opened.writestr("zeros", bytes(archive.BYTES_MAX + 1))
        self.assertRaises(TrainerError, archive.unpack, bomb, "/", [], self.root / "bomb")
        (self.root / "none.zip").write_text("no archive")
        self.assertRaises(TrainerError, archive.unpack, self.root / "none.zip", "/", [], self.root / "none")

    def test_the_environment_that_a_study_sets_is_part_of_the_identity(self):
        self.pack()
        trainer_class = self.trainer(self.home)
        self.assertEqual(identity.describe(trainer_class, {}), identity.describe(trainer_class))
        self.assertNotEqual(identity.describe(trainer_class, {"MODE": "a"}), identity.describe(trainer_class))

    def test_the_program_says_which_python_packs_and_which_data_lies_beside_or_why_not(self):
        def run(entry):
            environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
            return subprocess.run([sys.executable, "-m", "espalier.archive", entry, "--output", self.root], env=environment,
                                  capture_output=True, text=True)

        self.pack('data = es.files("points.csv")')
        self.assertEqual(run(f"{self.home}/mine.py:Mine").returncode, 0)
        self.assertEqual((self.root / "about").read_text().splitlines(), [sys.executable, archive.data_seen(self.trainer(self.home), self.home),
                                                                             "points.csv"])
        refused = run(f"{self.home}/mine.py:Nobody")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("Nobody", refused.stderr)


if __name__ == "__main__":
    unittest.main()
