"""The mutants of tests/mutants still fit the sources that they break."""

import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Mutants(unittest.TestCase):
    def test_every_patch_applies(self):
        for patch in sorted((ROOT / "tests/mutants").glob("*.patch")):
            with self.subTest(patch.name):
                applied = subprocess.run(["git", "apply", "--check", patch], cwd=ROOT, capture_output=True, text=True, check=False)
                self.assertEqual(applied.returncode, 0, applied.stderr)


if __name__ == "__main__":
    unittest.main()
