"""What README.md tells its readers to do works as it stands there."""

import os
import pathlib
import re
import subprocess
import unittest

from service import BIN, Service

README = (pathlib.Path(__file__).resolve().parents[2] / "README.md").read_text()
BLOCK = re.compile(r"^```(yaml|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAMS = "build/release/bin"


def blocks(begin, end):
    """(language, text) of each block between two lines."""
    return BLOCK.findall(README[README.index(begin):README.index(end)])


class ReadmeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = cls.enterClassContext(Service())

    def test_decays_of_one_trunk_share_as_many_steps_as_it_says(self):
        [(_, decays)] = blocks("# Espalier", "## Two commands")
        claim = re.search(r"These four take (\d+) steps, not (\d+); ten take (\d+), not ([\d,]+)\.", README)
        unique, total, unique_of_ten, total_of_ten = (int(number.replace(",", "")) for number in claim.groups())
        lines = "".join(f"  {line}\n" for line in decays.splitlines())
        file = self.service.write("decays.yaml", "study: decays\ntrainer: mlp\ndata: digits\nstep: 10 updates\nhyper_parameters:\n" + lines +
                                  "metric: {name: test_acc, goal: max}\ntuner: {grid: {steps: 100}}\n")
        forecast = self.service.json("study", "forecast", file)
        self.assertEqual((forecast["trials"], forecast["unique_steps"], forecast["total_steps"]), (4, unique, total))
        trunk = (total - unique) // 3  # what three of the four have not to train
        self.assertEqual((unique_of_ten, total_of_ten), (trunk + 10 * (100 - trunk), 10 * 100))

    def test_every_command_of_the_first_study_works(self):
        (_, up), (language, study), *commands = blocks("## Your first study", "## Your own training code")
        self.assertEqual(up, f"{PROGRAMS}/espalier up\n")  # the service is there
        self.assertEqual(language, "yaml")
        self.service.write("first.yaml", study)
        script = "".join(text for language, text in commands if language == "sh")
        self.assertIn(f"espalier={PROGRAMS}/espalier\n", script)
        self.assertGreaterEqual(script.count("$espalier "), 10)
        done = subprocess.run(["bash", "-ec", script.replace(f"={PROGRAMS}/", f"={BIN}/")], cwd=self.service.root, capture_output=True, text=True,
                              env=dict(self.service.environment(), PATH=f"{BIN}:{os.environ['PATH']}"), timeout=900)  # fmt: skip
        self.assertEqual(done.returncode, 0, f"{done.stdout}\n{done.stderr}")
        for file in ("first.csv", "first.svg"):
            self.assertGreater((self.service.root / file).stat().st_size, 0, file)


if __name__ == "__main__":
    unittest.main(verbosity=2)
