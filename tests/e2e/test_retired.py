"""Studies that are over leave the master's memory: nobody notices, whoever is killed when."""

import unittest

import studies
from own_master import OwnMaster
from service import wait_until


class RetiredTest(unittest.TestCase):
    def test_a_retired_study_is_shown_extended_and_pinned_as_before_and_after_a_restart(self):
        service = OwnMaster()
        service.master_lines = "retire_after_seconds: -1\n"
        with service:
            for name in ("first", "second"):
                service.run("study", "run", service.write(f"{name}.yaml", studies.sha(name, "team")))
            asked = [("study", "show", "first"), ("study", "show", "second"), ("study", "list"), ("trial", "list", "first"),
                     ("trial", "list", "second", "--sort", "metric", "--limit", "3"), ("trial", "show", "1"),
                     ("trial", "explain", "5"), ("plan", "show", "second"), ("checkpoint", "list", "first")]
            before = {each: service.json(*each) for each in asked}

            self.restart(service, "retire_after_seconds: 0.01\n")
            wait_until(lambda: self.count(service, "retired_study") == 2, "both are retired")
            self.assertEqual(before, {each: service.json(*each) for each in asked})

            self.restart(service, service.master_lines)
            self.assertEqual(before, {each: service.json(*each) for each in asked})

            trials = self.count(service, "trial")
            longest = max(before["trial", "list", "first"], key=lambda trial: trial["steps"])
            extended = service.json("trial", "extend", str(longest["id"]), "--steps", str(longest["steps"] + 4))
            self.assertEqual(trials + 1, self.count(service, "trial"), extended)
            self.assertEqual(trials + 1, int(service.psql(service.database, "SELECT max(id) FROM trial")))
            service.run("study", "pin", "first", "--keep", "all")
            self.assertEqual("all", service.psql(service.database, "SELECT keep_now FROM study WHERE name = 'first'"))

    @staticmethod
    def restart(service, lines):
        service.masters[0].kill()
        service.masters[0].wait()
        service.master_lines = lines
        service.start_master(0)
        wait_until(lambda: service.run("server", "list", check=False).returncode == 0 and service.servers(), "the master leads again")

    @staticmethod
    def count(service, table):
        return int(service.psql(service.database, f"SELECT count(*) FROM {table}"))


if __name__ == "__main__":
    unittest.main()
