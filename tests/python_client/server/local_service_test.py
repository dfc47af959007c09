"""`es.up()`: a service started from Python."""

import os
import pathlib
import subprocess
import tempfile
import unittest
import unittest.mock

import espalier as es

BIN = pathlib.Path(os.environ["ESPALIER_BIN"])


class LocalServiceTest(unittest.TestCase):
    def setUp(self):
        self.data = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="espalier test ")))
        self.enterContext(unittest.mock.patch.dict(os.environ, ESPALIER_PROGRAM=str(BIN / "espalier")))

    def test_it_is_there_while_it_is_used_and_what_it_knows_outlives_it(self):
        with es.up(slots=1, data=self.data) as service:
            self.assertTrue(service.is_own)
            self.assertEqual([(server.connected, server.slots, server.draining) for server in service.client.servers()], [(True, 1, False)])
            study = service.client.study("one", trainer="synthetic", metric="test_loss", goal="min")
            study.submit({"lr": 0.1}, steps=3).result(300)
            study.finish()
            with es.up(data=self.data) as again:
                self.assertFalse(again.is_own)
                self.assertEqual([each.name for each in again.client.studies()], ["one"])
            self.assertTrue(study.wait(300))  # whose service it is not may leave it, and it goes on
            self.assertEqual(study.show().state, "finished")
        with self.assertRaises(es.Unavailable):
            es.connect(data=self.data)
        with es.up(data=self.data) as service:
            self.assertEqual(service.client.open_study("one").best.steps, 3)

    def test_without_with_it_goes_on_after_the_process_until_it_is_stopped(self):
        program = f"import espalier as es; print(es.up(slots=1, data={str(self.data)!r}).client)"
        path = str(pathlib.Path(es.__file__).parents[1])
        subprocess.run([os.environ["ESPALIER_PYTORCH"], "-c", program], check=True, env={**os.environ, "PYTHONPATH": path})
        with es.connect(data=self.data) as client:
            self.assertEqual(list(client.studies()), [])
        stopped = subprocess.run([BIN / "espalier", "down", "--data", self.data], capture_output=True, text=True)
        self.assertIn("stopped", stopped.stderr)

    def test_where_it_cannot_start_it_says_why(self):
        with self.assertRaisesRegex(es.InvalidArgument, "slots: expected a whole number of at least 1, got 0"):
            es.up(slots=0, data=self.data)
        with self.assertRaisesRegex(es.FailedPrecondition, "(?s)espalier up does not start: it ended with 1; it said, in .*up.log.*FILE.py:NAME"):
            es.up(data=self.data, trainers=["nowhere.py:Digits"])
        with unittest.mock.patch.dict(os.environ, ESPALIER_PROGRAM="/nowhere/espalier"):
            with self.assertRaisesRegex(es.NotFound, "/nowhere/espalier, which is no program"):
                es.up(data=self.data)
        del os.environ["ESPALIER_PROGRAM"]
        with unittest.mock.patch.dict(os.environ, PATH=""):
            with self.assertRaisesRegex(es.NotFound, "no program `espalier` on the PATH: build it"):
                es.up(data=self.data)
        with unittest.mock.patch.dict(os.environ, PATH=str(BIN)):
            with es.up(data=self.data, slots=1) as service:
                self.assertTrue(service.is_own)


if __name__ == "__main__":
    unittest.main()
