"""Three kinds of process, three sets of dependencies: what the built programs link."""

import os
import pathlib
import subprocess
import unittest

BIN = pathlib.Path(os.environ["ESPALIER_BIN"])
FORBIDDEN = {
    "espalier": ["torch", "c10", "pqxx"],
    "espalier-master": ["torch", "c10"],
    "espalier-node": ["torch", "c10", "pqxx"],
    "espalier-worker": ["grpc", "pqxx"],
    "espalier-check": ["torch", "c10", "grpc", "pqxx"],
    "espalier-script": ["torch", "c10", "grpc", "pqxx"],
}


class LinksTest(unittest.TestCase):
    def test_no_program_links_what_is_not_its_own(self):
        for program, forbidden in FORBIDDEN.items():
            linked = subprocess.run(["ldd", BIN / program], check=True, capture_output=True, text=True).stdout
            self.assertTrue("libstdc++" in linked)
            for name in forbidden:
                with self.subTest(program=program, library=name):
                    self.assertFalse(f"lib{name}" in linked, f"{program} links {name}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
