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


CELLS = (
    "import torch\nfrom torch import nn\nimport espalier as es\nfrom helper import line\nCOUNT = 64",
    """
def points(seed):
    inputs = torch.linspace(-1, 1, COUNT).reshape(-1, 1)
    return inputs, line(inputs)
""",
    """
class Line(es.Trainer):
    hyper_parameters = {"lr": es.sequence(float, default=0.1)}
    metrics = ["loss"]
    data = "64 points of a line"

    def init(self, hp):
        self.model = nn.Linear(1, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=hp["lr"])
        self.points = points(0)
        self.track(self.model, self.optimizer)

    def train(self):
        inputs, outputs = self.points
        self.optimizer.zero_grad()
        loss = nn.functional.mse_loss(self.model(inputs), outputs)
        loss.backward()
        self.optimizer.step()
        return {"loss": loss.item(), "samples": COUNT}

    def evaluate(self):
        inputs, outputs = self.points
        with torch.no_grad():
            return {"loss": nn.functional.mse_loss(self.model(inputs), outputs).item()}
""",
    """
with es.connect() as client:
    study = client.study("cells", trainer=Line, goal="min", check="off", space=es.Grid({"lr": [0.1, es.MultiStep(0.1, [4], 0.1)]}))
    study.run(es.GridSearch(steps=8))
    print(study.show().state, study.show().steps.trained)
""",
    "CELL = 'again'\nwith es.connect() as client:\n    study = client.study('again', trainer=Line, goal='min', check='off', space=es.Grid({'lr': [0.1]}))\n"
    "    study.run(es.GridSearch(steps=8))\n    print(study.show().steps.trained)",
    "rows = iter([1])\ndef points(seed): return rows",
    "with es.connect() as client:\n    client.study('refused', trainer=Line, goal='min', space=es.Grid({'lr': [0.1]})).run(es.GridSearch(steps=8))",
)


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

    def test_a_trainer_that_is_written_in_a_cell_travels_with_what_it_names(self):
        (self.folder / "helper.py").write_text("def line(inputs):\n    return 3 * inputs - 1\n")
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each.strip()) for each in CELLS])
        kernel = NotebookClient(notebook, timeout=PATIENCE_SECONDS, allow_errors=True, resources={"metadata": {"path": str(self.folder)}})
        kernel.execute()
        said = ["".join(output.get("text", "") if output.get("name") == "stdout" else output.get("evalue", "") for output in cell.outputs)
                for cell in notebook.cells]  # fmt: skip
        self.assertEqual(said[:3], ["", "", ""])
        self.assertEqual([each.strip() for each in said[3:6]], ["finished 12", "0", ""])
        self.assertRegex(said[6], "points names rows, which was made in the notebook")
        self.assertFalse((self.folder / "notebook_cells.py").exists())

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
