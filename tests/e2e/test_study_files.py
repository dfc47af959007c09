"""What a user sees who writes a study file wrongly, or forgets to start the service."""

import os
import subprocess
import tempfile
import unittest

import studies
from service import BIN, Service

GOOD = studies.grid("good", ["0.1"], 2)
BAD = {  # what is written instead of what; the line it is on; what the one line must say
    "an unknown function": ("lr: [0.1]", 'lr: ["Cosin(0.1, 0, 5)"]', 7, ["hyper_parameters.lr", "Cosin", "Cosine"]),
    "negative steps": ("steps: 2", "steps: -2", 9, ["steps", "-2"]),
    "not a number": ("lr: [0.1]", "lr: [.nan]", 7, ["hyper_parameters.lr", "finite"]),
    "a wrong type": ("lr: [0.1]", "bs: [12.5]", 7, ["hyper_parameters.bs", "12.5", "whole"]),
    "an unknown hyper-parameter": ("lr: [0.1]", "learning_rate: 0.1", 7, ["hyper_parameters.learning_rate"]),
    "an unknown trainer": ("trainer: mlp", "trainer: mpl", 3, ["trainer", "mpl", "mlp"]),
    "a schedule for what is fixed": ("lr: [0.1]", 'seed: "Piecewise([1, 2], [5])"', 7, ["hyper_parameters.seed"]),
    "an unknown key": ("metric:", "metrics:", 8, ["metrics", "metric"]),
}


class StudyFilesTest(unittest.TestCase):
    def test_each_mistake_is_one_line_with_file_line_field_and_what_is_expected(self):
        with Service() as service:
            for mistake, (right, wrong, line, words) in BAD.items():
                with self.subTest(mistake):
                    self.assertIn(right, GOOD)
                    file = service.write("bad.yaml", GOOD.replace(right, wrong))
                    result = service.run("study", "run", file, check=False)
                    self.assertEqual(result.returncode, 2, result.stderr)
                    lines = result.stderr.strip().splitlines()
                    self.assertEqual(len(lines), 1, lines)
                    self.assertTrue(lines[0].startswith(f"{file}:{line}: "), lines[0])
                    for word in words:
                        self.assertIn(word, lines[0])

    def test_a_missing_file_and_one_that_is_not_yaml_are_named(self):
        with Service() as service:
            for file in (service.root / "missing.yaml", service.write("broken.yaml", "study: [unclosed")):
                result = service.run("study", "run", file, check=False)
                self.assertEqual(result.returncode, 2)
                self.assertEqual(len(result.stderr.strip().splitlines()), 1)
                self.assertIn(str(file), result.stderr)

    def test_without_a_server_the_exit_code_is_3_and_the_message_says_what_to_start(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "study.yaml")
            with open(file, "w", encoding="utf-8") as out:
                out.write(GOOD)
            result = subprocess.run([BIN / "espalier", "study", "run", file, "--data", folder], capture_output=True,
                                    text=True, env=dict(os.environ, ESPALIER_DATA=folder))
            self.assertEqual(result.returncode, 3)
            self.assertIn("espalier up", result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
