"""Workers that are forked from a process that has imported PyTorch (espalier/worker_template.py), beside one that has imported it itself."""

from cuts import CutsTest, Trial, begin
from fake_node_manager import Worker

DRAWING = """
import random
import numpy as np
import espalier as es

DRAWN = {"python": random.random(), "numpy": float(np.random.random())}

class Drawing(es.Trainer):
    metrics = ["python", "numpy"]

    def init(self, hp):
        pass

    def train(self):
        pass

    def evaluate(self):
        return DRAWN
"""


class WorkerTemplateTest(CutsTest):
    def test_they_describe_themselves_as_those_that_have_imported_by_themselves(self):
        described = [self.worker("small.py:Small", is_copy=is_copy).describe() for is_copy in (False, True, True)]
        self.assertEqual(described[0], described[1])
        self.assertEqual(described[1], described[2])

    def test_what_nobody_has_seeded_differs_between_them(self):
        file = self.folder / "drawing.py"
        file.write_text(DRAWING)
        drawn = []
        for _ in range(2):
            with Worker(f"{file}:Drawing", self.folder / "log", is_copy=True) as worker:
                begin(worker, Trial())
                drawn.append(worker.evaluate())
        for generator in ("python", "numpy"):
            self.assertNotEqual(drawn[0][generator], drawn[1][generator])
