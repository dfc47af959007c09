"""What those who run the service can find out about it: pages for Prometheus, health, espalier doctor."""

import json
import pathlib
import re
import signal
import unittest
import urllib.request

import studies
from own_master import OwnMaster
from service import PATIENCE_SECONDS, wait_until
from test_two_masters import free_port

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = re.compile(r"^([a-z_:]+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)


class Measured(OwnMaster):
    def prepare(self):
        self.pages = {"master": free_port(), "node": free_port()}
        self.master_lines = f'metrics_address: "127.0.0.1:{self.pages["master"]}"\n'
        self.node_lines = f'metrics_address: "127.0.0.1:{self.pages["node"]}"\n'

    def page(self, program):
        """What it says now: (name, labels as the page has them) -> value."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.pages[program]}/metrics", timeout=PATIENCE_SECONDS) as answer:
            text = answer.read().decode()
        return {(name, labels): float(value) for name, labels, value in SAMPLE.findall(text)}

    def doctor(self):
        result = self.run("doctor", check=False)
        return result.returncode, {finding["of"]: finding for finding in json.loads(result.stdout)}


class MonitoringTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Measured()
        cls.service.__enter__()
        cls.service.run("study", "run", cls.service.write("study.yaml", studies.sha("small", "team")))

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__(None, None, None)

    def test_the_masters_page_says_what_study_show_says(self):
        def agreeing():  # a study that was cancelled just now may still be counted up
            page = self.service.page("master")
            shown = [self.service.json("study", "show", study["name"]) for study in self.service.json("study", "list")]
            return all(sum(study["steps"][kind] for study in shown) == page[("espalier_steps", f'kind="{kind}"')]
                       for kind in ("unique", "trained", "re_derived", "wasted")) and (page, shown)

        page, shown = wait_until(agreeing, "both say the same steps")
        self.assertEqual(sum(study["trials"]["total"] for study in shown), page[("espalier_trials", 'state="closed"')])
        self.assertEqual(len(shown), page[("espalier_studies", 'state="finished"')])
        self.assertEqual(2, page[("espalier_slots", 'state="idle"')] + page[("espalier_slots", 'state="busy"')])
        self.assertEqual(1, page[("espalier_servers", 'state="connected"')])
        self.assertEqual((1, 1), (page[("espalier_leads", "")], page[("espalier_leader_epoch", "")]))
        self.assertGreater(page[("espalier_checkpoint_bytes", "")], 0)

    def test_each_event_and_each_commit_is_counted(self):
        before = self.service.page("master")
        study = self.service.write("more.yaml", studies.sha("more", "nobody"))
        self.service.run("study", "run", study)
        after = self.service.page("master")
        gained = {name: value - before.get(name, 0) for name, value in after.items()}
        self.assertEqual(1, gained[("espalier_event_seconds_count", 'event="create_study"')])
        for event in ("submit", "report", "tick"):
            self.assertGreaterEqual(gained[("espalier_event_seconds_count", f'event="{event}"')], 1, event)
        self.assertGreaterEqual(gained[("espalier_commit_seconds_count", "")], 1)
        self.assertEqual(0, after[("espalier_commit_failures_total", "")])

    def test_a_nodes_page_counts_what_its_workers_do(self):
        page = self.service.page("node")
        trained = sum(study["steps"]["trained"] for study in
                      (self.service.json("study", "show", name["name"]) for name in self.service.json("study", "list")))
        self.assertEqual(trained, page[("espalier_node_step_seconds_count", "")])
        self.assertGreater(page[("espalier_node_saved_bytes_total", "")], 0)
        self.assertEqual((1, 0), (page[("espalier_node_reaches_master", "")], page[("espalier_node_has_trouble", "")]))

    def test_every_number_of_the_dashboard_is_on_a_page(self):
        dashboard = (ROOT / "deploy" / "grafana" / "espalier.json").read_text()
        expressions = [target["expr"] for panel in json.loads(dashboard)["panels"] for target in panel.get("targets", [])]
        shown = {name for program in ("master", "node") for name, _ in self.service.page(program)}
        wanted = {name for each in expressions for name in re.findall(r"espalier_[a-z_]+", each)}
        self.assertGreater(len(wanted), 10)
        self.assertEqual(set(), wanted - shown)

    def test_the_doctor_finds_nothing_and_says_who_leads(self):
        code, found = self.service.doctor()
        self.assertEqual((0, {"ok"}), (code, {each["verdict"] for each in found.values()}), found)
        self.assertLessEqual({"master", "database", "store", "server local"}, found.keys())
        self.assertRegex(found["master"]["text"], rf"process {self.service.masters[0].pid}, for .*, epoch 1$")


    def test_a_trials_life_is_told_from_its_first_step_to_its_last(self):
        for trial in self.service.json("trial", "list", "small"):
            life = self.service.json("trial", "explain", str(trial["id"]))
            moments = life["moments"]
            self.assertEqual("submitted", moments[0]["what"])
            self.assertEqual(sorted(each["at"] for each in moments), [each["at"] for each in moments])
            answered = [each["step"] for each in moments if each["what"] == "answered"]
            self.assertEqual(trial["steps"], max(answered))
            reached = 0
            for run in sorted((each for each in moments if each["what"] == "run"), key=lambda each: each["to_step"]):
                self.assertLessEqual(run["from_step"], reached, moments)  # no step is missing
                reached = max(reached, run["to_step"])
            self.assertEqual(trial["steps"], reached)
            self.assertIsNone(life["waits"])

    def test_of_an_open_trial_is_told_what_it_waits_for(self):
        slow = self.service.begin("study", "run", self.service.write("slow.yaml", SLOW))
        wait_until(lambda: any(study["name"] == "slow" for study in self.service.json("study", "list")), "the study is there")
        trial = wait_until(lambda: self.service.json("trial", "list", "slow"), "its trial is there")[0]["id"]
        life = wait_until(lambda: self.running(trial), "it trains")
        self.assertRegex(life["waits"]["why"], "run ")
        self.service.run("study", "cancel", "slow")
        slow.communicate(timeout=PATIENCE_SECONDS)
        wait_until(lambda: self.service.servers()[0]["busy_slots"] == 0, "its run has ended")  # others count what it trains
        self.assertEqual("cancelled", self.service.json("trial", "explain", str(trial))["state"])

    def running(self, trial):
        life = self.service.json("trial", "explain", str(trial))
        return life["waits"] and life["waits"]["state"] == "running" and life


class TroubleTest(unittest.TestCase):
    def test_the_doctor_finds_a_store_that_is_away_a_server_that_is_silent_and_a_master_that_is_gone(self):
        with Measured() as service:
            service.run("study", "run", service.write("study.yaml", studies.sha("small", "team")))
            store, away = service.root / "checkpoints", service.root / "unmounted"
            store.rename(away)
            running = service.begin("study", "run", service.write("more.yaml", studies.sha("more", "nobody")))
            code, found = wait_until(lambda: (service.doctor()[0] == 1 and service.doctor()), "the doctor finds a problem")
            self.assertEqual("problem", found["server local"]["verdict"], found)
            self.assertIn("espalier server logs local", found["server local"]["to_do"])
            wait_until(lambda: service.page("node")[("espalier_node_has_trouble", "")] == 1, "the node's page says so, too")
            away.rename(store)
            wait_until(lambda: service.doctor()[0] == 0, "the doctor finds nothing any more")
            service.node.send_signal(signal.SIGSTOP)
            code, found = wait_until(lambda: (service.doctor()[0] == 1 and service.doctor()), "the server's silence is noticed")
            self.assertEqual("problem", found["servers"]["verdict"], found)
            service.node.send_signal(signal.SIGCONT)
            service.masters[0].kill()
            service.masters[0].wait()
            code, found = service.doctor()
            self.assertEqual((1, "problem"), (code, found["master"]["verdict"]))
            service.start_master(0)
            running.communicate(timeout=PATIENCE_SECONDS)


SLOW = """study: slow
trainer: synthetic
hyper_parameters: {lr: [0.1], step_seconds: 0.1}
metric: {name: test_acc, goal: max}
tuner: {grid: {steps: 6000}}
"""

if __name__ == "__main__":
    unittest.main()
