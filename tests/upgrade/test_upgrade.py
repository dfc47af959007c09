"""A database and a checkpoint store that an earlier version left behind: this version takes them over, answers what was asked then as it was
answered then, and goes on with what was under way to the same results."""

import gzip
import json
import subprocess
import unittest

from recorded import VERSIONS, ServiceOfAVersion, answers

from test_two_masters import Masters, free_port


class Recorded(ServiceOfAVersion):
    """Restored, without a node manager until it goes on with what was under way."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def __enter__(self):
        Masters.__enter__(self)
        dump = gzip.decompress((self.folder / "database.sql.gz").read_bytes())
        subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", self.database], input=dump, check=True, capture_output=True)
        subprocess.run(["tar", "-xzf", self.folder / "checkpoints.tar.gz", "-C", self.root], check=True)
        self.address = f"127.0.0.1:{free_port()}"
        self.lead()
        return self


class UpgradeTest(unittest.TestCase):
    def test_what_earlier_versions_left_is_taken_over(self):
        recorded = sorted(VERSIONS.iterdir())
        self.assertTrue(recorded)
        for folder in recorded:
            with self.subTest(folder.name), Recorded(folder) as service:
                said = json.loads(gzip.decompress((folder / "answers.json.gz").read_bytes()))
                expected = said.pop("results")
                self.maxDiff = None
                now = answers(service)
                self.assertEqual(set(said), set(now))
                for command, answer in said.items():
                    self.assertEqual(answer, now[command], command)
                self.assertEqual(expected, service.finish_under_way())


if __name__ == "__main__":
    unittest.main()
