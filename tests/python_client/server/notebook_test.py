"""The notebook of examples/notebook, in a real kernel, on a real service that never heard of its trainer."""

import os
import pathlib
import shutil
import signal
import sys
import threading
import unittest
import unittest.mock

import espalier as es
from service import Service, wait_until

try:
    import ipykernel  # noqa: F401
    import ipywidgets  # noqa: F401
    import matplotlib  # noqa: F401
    import nbformat
    import torch  # noqa: F401
    from nbclient import NotebookClient
    from nbclient.exceptions import DeadKernelError
except ImportError as error:
    raise unittest.SkipTest(f"{error.name} is not installed") from None

BIN = pathlib.Path(os.environ["ESPALIER_BIN"])
ROOT = pathlib.Path(__file__).resolve().parents[3]
PATIENCE_SECONDS = 300


class NotebookTest(unittest.TestCase):
    def setUp(self):
        worker = os.path.basename(os.path.realpath(sys.executable))
        package = {"PYTHONPATH": str(ROOT / "client" / "python")}
        self.enterContext(unittest.mock.patch.dict(os.environ, package))  # of workers and kernels
        self.service = self.enterContext(Service(worker=worker))
        self.enterContext(unittest.mock.patch.dict(os.environ, ESPALIER_DATA=str(self.service.data), ESPALIER_PROGRAM=str(BIN / "espalier")))
        self.client = self.enterContext(es.connect())
        self.folder = self.service.root / "notebook"
        shutil.copytree(ROOT / "examples/notebook", self.folder)
        self.notebook = nbformat.read(self.folder / "digits.ipynb", nbformat.NO_CONVERT)
        self.kernel = NotebookClient(self.notebook, timeout=PATIENCE_SECONDS, resources={"metadata": {"path": str(self.folder)}})

    def outputs(self, cell):
        """Of the cell of that id: by kind of content, what it shows."""
        (found,) = [each for each in self.notebook.cells if each.id == cell]
        return {kind: shown for output in found.outputs for kind, shown in output.get("data", {}).items()}

    def test_it_runs_from_its_first_cell_to_its_last_and_shows_what_came_of_it(self):
        self.kernel.execute()
        study = self.client.open_study("notebook")
        shown = study.show()
        self.assertEqual((shown.state, shown.trials), ("finished", {"done": 12}))
        self.assertIn("<table>", self.outputs("forecast")["text/html"])
        self.assertIn("finished", self.outputs("run")["text/html"])
        self.assertIn(f"{study.best.id} of study {study.id}", self.outputs("best")["text/html"])
        for cell in ("tree", "curves", "importance"):
            self.assertIn("image/png", self.outputs(cell))
        self.assertEqual(float(self.outputs("evaluate")["text/plain"]), study.best.metric)
        self.assertEqual(self.bar(), (shown.steps.unique, shown.steps.unique))

    def bar(self):
        """(value, end) of the bar of `study.run`, as the browser would show it at last."""
        widgets = self.notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"].values()
        (bar,) = [each["state"] for each in widgets if each["model_name"] == "FloatProgressModel"]
        return bar["value"], bar["max"]

    def test_the_study_ends_by_itself_when_the_kernel_is_killed(self):
        died = []

        def execute():
            try:
                self.kernel.execute()
            except DeadKernelError as error:
                died.append(error)

        running = threading.Thread(target=execute)
        running.start()
        study = wait_until(self.begun, "something is trained")
        os.kill(self.kernel.km.provisioner.pid, signal.SIGKILL)
        running.join()
        self.assertEqual(len(died), 1)
        trained = study.show().steps.trained
        self.assertTrue(study.wait(PATIENCE_SECONDS))
        shown = study.show()
        self.assertGreater(shown.steps.trained, trained)  # it was not finished
        self.assertEqual((shown.state, shown.trials), ("finished", {"done": 12}))
        # As ASHA decides, whatever comes first: all reach the first rung, at least so many the others.
        reached = [trial.steps for trial in study.trials]
        self.assertLessEqual(set(reached), {4, 8, 16})
        self.assertGreaterEqual(sum(steps >= 8 for steps in reached), 6)
        self.assertGreaterEqual(sum(steps >= 16 for steps in reached), 3)

    def begun(self):
        try:
            study = self.client.open_study("notebook")
        except es.NotFound:
            return None
        return study if study.show().steps.trained > 0 else None


if __name__ == "__main__":
    unittest.main()
