"""Trainers in the user's own code, as objects and as files, on a real service that never heard of them."""

import importlib
import os
import pathlib
import shlex
import shutil
import sys
import unittest
import unittest.mock

import espalier as es
from service import Service

BIN = pathlib.Path(os.environ["ESPALIER_BIN"])
ROOT = pathlib.Path(__file__).resolve().parents[3]
os.environ["PYTHONPATH"] = str(ROOT / "client" / "python")  # of workers
SPACE = {"lr": [0.05, es.MultiStep(0.05, [2], 0.1)]}


class OwnCodeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = cls.enterClassContext(Service(worker=os.path.basename(os.path.realpath(sys.executable))))
        cls.client = cls.enterClassContext(es.connect(data=cls.service.data))
        cls.code = cls.service.root / "code"
        cls.code.mkdir()
        for name in ("digits_cnn.py", "digits_mlp.py", "digits.csv"):
            shutil.copy(ROOT / "examples/pytorch" / name, cls.code)
        sys.path.insert(0, str(cls.code))
        cls.addClassCleanup(sys.path.remove, str(cls.code))

    def run_study(self, name, trainer, **more):
        study = self.client.study(name, trainer=trainer, step="5 updates", metric="test_acc", goal="max", steps=4, check="off", **more)
        evaluations = es.wait_all(study.submit(more.get("space") or [{}]), 300)
        study.finish()
        self.assertTrue(study.wait(300))
        self.assertEqual([each.state for each in evaluations], ["done"] * len(evaluations), evaluations)
        return study

    def test_a_function_and_its_file_are_the_same_training(self):
        digits_cnn = importlib.import_module("digits_cnn")
        space = es.Grid(SPACE)
        study = self.client.study("forecast", trainer=digits_cnn.main, step="5 updates", metric="test_acc", goal="max", space=space, steps=4)
        self.assertEqual(study.forecast().unique_steps, 6)
        self.assertEqual(self.run_study("function", digits_cnn.main, space=space).show().steps.trained, 6)
        named = self.run_study("file", f"{self.code}/digits_cnn.py:main", space=space)
        self.assertEqual(named.show().steps.trained, 0)
        with_interpreter = self.run_study("interpreter", f"{self.code}/digits_cnn.py:main", space=space, python=sys.executable)
        self.assertEqual(with_interpreter.show().steps.trained, 0)
        self.assertEqual(self.service.json("study", "show", "file")["best"]["value"], named.best.metric)

    def test_changed_code_begins_with_what_the_old_code_left_and_says_so(self):
        file = self.code / "changing.py"
        file.write_text((self.code / "digits_cnn.py").read_text())
        old = self.run_study("old", f"{file}:main", space=es.Grid(SPACE))
        file.write_text(file.read_text().replace("functional.cross_entropy(model", "0.5 * functional.cross_entropy(model"))
        space = es.Grid({"lr": [0.05]})
        asked = self.client.study("asked", trainer=f"{file}:main", step="5 updates", metric="test_acc", goal="max", space=space, steps=6,
                                  reuse_from={"study": old, "until": 3})  # fmt: skip
        self.assertEqual(asked.forecast().reused_steps, 2)  # where the old trials part
        new = self.run_study("new", f"{file}:main", space=space, reuse_from=old)
        self.assertEqual(new.show().steps.trained, 0)
        self.assertEqual(new.show().reuses.study_id, old.id)
        self.assertIn(f"study {old.id} (code {new.show().reuses.code_digest[:12]})", str(new.show()))
        [trial] = new.trials
        self.assertEqual((trial.origin.study_id, trial.origin.step), (old.id, 4))
        self.assertIsNone(next(iter(old.trials)).origin)
        self.assertEqual(next(each for each in self.client.studies() if each.id == new.id).reuses, old.id)
        with self.assertRaises(es.NotFound) as refused:
            self.run_study("of nobody", f"{file}:main", space=space, reuse_from=10_000)
        self.assertEqual(refused.exception.field, "reuse_from")

    def test_a_folder_of_data_and_a_line_that_starts_a_worker_need_no_word_to_the_service_before(self):
        points = self.service.root / "points"
        points.mkdir()
        for name, count in (("train.csv", 200), ("test.csv", 50)):
            rows = [f"{place + side},{place - side},{side}" for side in (0, 1) for place in range(count)]
            (points / name).write_text("x,y,label\n" + "\n".join(rows) + "\n")
        space = es.Grid({"lr": [0.05, es.MultiStep(0.05, [2], 0.1)]})
        self.assertEqual(self.run_study("points", "mlp", data=str(points), space=space).show().steps.trained, 6)
        line = f"command:{shlex.quote(str(BIN / 'espalier-worker'))} --trainer mlp --data {shlex.quote(str(points))}"
        self.assertEqual(self.run_study("line", line, data=str(points), space=space).show().steps.trained, 0)
        self.assertEqual(self.run_study("data-by-name", "mlp", data="digits", space=space).show().steps.trained, 6)
        for trainer, data, why in (("mlp", str(self.code), "holds no data of a known form"), ("nothing", str(points), "no trainer 'nothing' is built in"),
                                   ("library:libnothing.so", "", "expected library:FILE.so, a file that is there"),
                                   ("torchscript:net.so", "", "expected torchscript:FILE.pt")):  # fmt: skip
            with self.subTest(trainer), self.assertRaisesRegex((es.FailedPrecondition, es.InvalidArgument), why):
                self.run_study("wrong", trainer, data=data, space=space)

    def test_a_program_that_can_only_be_started_is_a_trainer_too(self):
        shutil.copy(ROOT / "examples/script/line.py", self.code)
        space = es.Grid({"lr": [0.01, es.MultiStep(0.01, [2], 0.1)]})
        with unittest.mock.patch.dict(os.environ, ESPALIER_PROGRAM=str(BIN / "espalier")):
            study = self.client.study("program", trainer=f"script:{self.code}/line.py", step="5 updates", goal="min", steps=4, check="off", space=space)
            self.assertEqual([each.state for each in es.wait_all(study.submit(space), 300)], ["done"] * 2)
        study.finish()
        self.assertTrue(study.wait(300))
        self.assertEqual(study.show().steps.trained, 6)
        with self.assertRaisesRegex(es.InvalidArgument, "expected script:FILE, a program that can be started; there is no"):
            self.client.study("nowhere", trainer="script:nowhere.py", goal="min")

    def test_the_best_state_comes_as_a_file_and_its_model_is_as_right_as_was_reported(self):
        digits_cnn = importlib.import_module("digits_cnn")
        study = self.run_study("kept", digits_cnn.main, space=es.Grid(SPACE))
        with unittest.mock.patch.dict(os.environ, ESPALIER_PROGRAM=str(BIN / "espalier")):
            checkpoint = study.best.checkpoint()
            self.assertEqual((checkpoint.step, checkpoint.trial.id), (study.best.steps, study.best.id))
            model = digits_cnn.Net()
            with self.assertRaisesRegex(es.InvalidArgument, r"model: none has the parameters and buffers of this Linear: model \(first.weight"):
                checkpoint.load_into(digits_cnn.nn.Linear(2, 2))
            checkpoint.load_into(model)
            _, test_set = digits_cnn.load(digits_cnn.DIGITS)
            measured = digits_cnn.test(model, digits_cnn.DataLoader(test_set, batch_size=256))
            self.assertEqual(measured["test_acc"], study.best.metric)
            folder = checkpoint.file.parent
            del checkpoint
            self.assertFalse(folder.exists())
            named = study.best.checkpoint(study.best.steps, file=self.service.root / "named.safetensors")
            self.assertEqual(set(named.models), {"model"})
            with self.assertRaisesRegex(es.FailedPrecondition, "exists"):
                study.best.checkpoint(file=named.file)
            with self.assertRaisesRegex(es.FailedPrecondition, "stored are the states at steps"):
                study.best.checkpoint(3)
            self.assertEqual(study.best.checkpoint(3, train=True).step, 3)

    def test_the_state_of_a_trainer_in_cpp_loads_into_a_model_of_the_same_names(self):
        from torch import nn

        study = self.client.study("built-in", trainer="mlp", data="digits", step="20 updates", metric="test_acc", goal="max", steps=2)
        study.submit({}).result(300)
        study.finish()
        self.assertTrue(study.wait(300))
        with unittest.mock.patch.dict(os.environ, ESPALIER_PROGRAM=str(BIN / "espalier")):
            checkpoint = study.best.checkpoint()
        sizes = {name: checkpoint.arrays[f"model.{name}.weight"].shape for name in ("first", "second", "last")}
        model = nn.ModuleDict({name: nn.Linear(inputs, outputs) for name, (outputs, inputs) in sizes.items()})
        checkpoint.load_into(model)
        self.assertEqual(model["last"].bias.tolist(), checkpoint.arrays["model.last.bias"].tolist())

    def test_a_class_is_a_trainer_and_its_only_metric_the_studys(self):
        digits_mlp = importlib.import_module("digits_mlp")
        study = self.client.study("class", trainer=digits_mlp.Digits, step="5 updates", goal="max", steps=2, check="off",
                                  environment={"WORDS": "a b"})  # fmt: skip
        self.assertEqual(set(study.submit({"bs": 64, "depth": 3}).result(300).metrics), {"test_acc"})
        self.assertEqual(study.metric, "test_acc")
        study.cancel()

    def test_what_cannot_be_a_trainer_is_refused_with_the_reason(self):
        (self.code / "broken.py").write_text("import no_such_package\n")
        (self.code / "connecting.py").write_text("import espalier as es\nes.connect()\n")
        for trainer, kind, expected in [
            (f"{self.code}/nowhere.py:main", es.InvalidArgument, "there is no"),
            (f"{self.code}/digits_cnn.py:nobody", es.InvalidArgument, "nobody is neither a subclass of es.Trainer nor a function"),
            (f"{self.code}/broken.py:main", es.InvalidArgument, "no_such_package"),
            (f"{self.code}/connecting.py:main", es.InvalidArgument, 'put what drives studies under if __name__ == "__main__"'),
            (object(), es.InvalidArgument, "expected a trainer's name"),
            (type("Made", (es.Trainer,), {"__module__": "__main__"}), es.InvalidArgument, "has no variable that is"),
        ]:
            with self.subTest(expected), self.assertRaises(kind) as raised:
                self.client.study("refused", trainer=trainer, metric="test_acc", goal="max", steps=1).create()
            self.assertEqual(raised.exception.field, "trainer")
            self.assertIn(expected, str(raised.exception))
        with unittest.mock.patch.dict(sys.modules, notebook=type(sys)("notebook")):
            sys.modules["notebook"].Cell = type("Cell", (es.Trainer,), {"__module__": "notebook"})
            with self.assertRaisesRegex(es.InvalidArgument, "the cell in which Cell was written cannot be found"):
                self.client.study("refused", trainer=sys.modules["notebook"].Cell, goal="max")
        with self.assertRaisesRegex(es.FailedPrecondition, "python: .* is no program that"):
            self.client.study("refused", trainer=f"{self.code}/digits_cnn.py:main", python="/no/such/python", goal="max", metric="test_acc").create()


if __name__ == "__main__":
    unittest.main()
