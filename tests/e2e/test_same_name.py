"""Two node managers of one name: the second one is refused, its log says why, and what the first one trains goes on untouched."""

import signal
import unittest

import studies
from service import BUILT_IN, PATIENCE_SECONDS, Service, wait_until


class SameNameTest(unittest.TestCase):
    def test_a_second_node_manager_of_the_name_is_refused_and_the_first_loses_nothing(self):
        with Service() as service:
            name = service.servers()[0]["name"]
            log = service.root / "second.log"
            run = service.begin("study", "run", service.write("study.yaml", studies.grid("named", ["0.1", "0.2"], 20)))
            second = service.launch_node(name, BUILT_IN, folder="second")
            try:
                wait_until(lambda: "the master does not take this server" in log.read_text(), "the second one is refused")
                self.assertIn(f"the server '{name}' is another node manager's", log.read_text())
                _, errors = run.communicate(timeout=PATIENCE_SECONDS)
                self.assertEqual(0, run.returncode, errors)
                self.assertEqual([name], [each["name"] for each in service.servers()])
                steps = service.json("study", "show", "named")["steps"]
                self.assertEqual((40, 0), (steps["trained"], steps["re_derived"]))
                self.assertIsNone(second.poll())
            finally:
                second.send_signal(signal.SIGTERM)
                self.assertEqual(0, second.wait(timeout=PATIENCE_SECONDS), log.read_text())


if __name__ == "__main__":
    unittest.main()
