"""Two teams on one real service: who may call, and what they see of each other."""

import hashlib
import json
import stat
import subprocess
import unittest

import studies
from service import BIN, PATIENCE_SECONDS, Service, wait_until

SECRETS = ["secret", "ann", "0.01234", "vision"]


class UsersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.service.start()
        cls.ann = cls.service.json("user", "add", "ann", "--team", "vision")["token"]
        cls.bob = cls.service.json("user", "add", "bob", "--team", "speech")["token"]
        cls.run_study("secret", "everyone", cls.ann)

    @classmethod
    def tearDownClass(cls):
        cls.service.__exit__(None, None, None)

    @classmethod
    def file(cls, name, share, lr=("0.01234",)):
        return cls.service.write(f"{name} {share}.yaml", studies.grid(name, list(lr), 3, share=share, updates=20))

    @classmethod
    def run_study(cls, name, share, token):
        return json.loads(cls.call(token, "study", "run", cls.file(name, share)).stdout)

    @classmethod
    def call(cls, token, *arguments, check=True):
        """A command of whoever has the token."""
        result = subprocess.run(cls.service.command(*arguments), capture_output=True, text=True,
                                env=dict(cls.service.environment(), ESPALIER_TOKEN=token), stdin=subprocess.DEVNULL,
                                timeout=PATIENCE_SECONDS)
        if check:
            assert result.returncode == 0, f"{arguments}: {result.returncode}\n{result.stderr}"
        return result

    def shown(self, token, *arguments):
        return json.loads(self.call(token, *arguments).stdout)

    def test_the_first_user_is_made_by_up_and_its_token_is_private(self):
        token = self.service.data / "token"
        self.assertEqual(stat.S_IMODE(token.stat().st_mode), 0o600)
        users = {user["name"]: user for user in self.service.json("user", "list")}
        user = {"servers": [], "state": "active"}
        self.assertEqual(users["local"], {"name": "local", "team": "local", "role": "administrator", **user})
        self.assertEqual(users["ann"], {"name": "ann", "team": "vision", "role": "member", **user})
        self.assertEqual(users["local-node"], {"name": "local-node", "team": "", "role": "node", "servers": ["local"], "state": "active"})
        self.assertEqual(stat.S_IMODE((self.service.data / "node-token").stat().st_mode), 0o600)
        self.assertEqual(self.service.json("study", "list"), [])  # not even to the administrator

    def test_the_token_is_printed_alone_and_works_as_a_file(self):
        command = [argument for argument in self.service.command("user", "add", "cat", "--team", "speech")
                   if argument not in ("--output", "json")]
        result = subprocess.run(command, env=self.service.environment(), capture_output=True, text=True, check=True)
        file = self.service.write("cat.token", result.stdout)
        self.assertRegex(result.stdout, r"\Aespalier_[0-9a-f]{64}\n\Z")
        listed = self.call("", "study", "list", "--token-file", file)
        self.assertEqual(json.loads(listed.stdout), json.loads(self.call(self.bob, "study", "list").stdout))

    def test_the_bill_of_the_team_is_shown_to_it_and_all_bills_to_administrators(self):
        study = self.shown(self.ann, "study", "show", "secret")
        self.assertGreater(study["slot_seconds"], 0)
        (own,) = self.shown(self.ann, "quota")["teams"]
        self.assertEqual(own["team"], "vision")
        self.assertAlmostEqual(own["device_seconds"], study["slot_seconds"], places=3)
        bills = self.bills()
        self.assertLessEqual({"vision", "speech", "local"}, bills.keys())
        self.assertAlmostEqual(bills["vision"]["device_seconds"], own["device_seconds"], places=3)
        self.assertIn("device time used", self.service.text("server", "list"))

    def test_administrators_weigh_teams_and_users_their_studies_for_good(self):
        bills = self.bills("speech", "--weight", "2.5")
        self.assertEqual((bills["speech"]["weight"], bills["vision"]["weight"]), (2.5, 1))
        self.assertEqual(self.shown(self.ann, "quota", "--study", "secret", "--weight", "3")["weight"], 3)
        for arguments, token, message in (
            (("vision", "--weight", "2"), self.ann, "administrator"),
            (("--study", "secret", "--weight", "2"), self.bob, "stud"),
            (("--study", "secret", "--weight", "0"), self.ann, "weight: expected a number from 0.001 to 1000"),
        ):
            result = self.call(token, "quota", *arguments, check=False)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn(message, result.stderr)
        unknown = subprocess.run(self.service.command("quota", "nobody", "--weight", "2"), capture_output=True, text=True,
                                 env=self.service.environment())  # fmt: skip
        self.assertEqual(unknown.returncode, 1)
        self.assertIn("nobody is of a team 'nobody'", unknown.stderr)
        self.service.stop()
        self.service.start()
        bills = self.bills()
        self.assertEqual(bills["speech"]["weight"], 2.5)
        self.assertEqual(self.shown(self.ann, "study", "show", "secret")["weight"], 3)

    def bills(self, *arguments):
        return {bill["team"]: bill for bill in self.service.json("quota", *arguments)["teams"]}

    def quotas(self, *arguments):
        return {(each["team"], each["user"]): each for each in self.service.json("quota", *arguments)["quotas"]}

    def test_a_team_at_its_limit_of_trials_is_refused_and_one_out_of_device_time_waits_and_goes_on_later(self):
        erin = self.service.json("user", "add", "erin", "--team", "robots")["token"]
        used = self.quotas("robots", "--open-trials", "1", "--device-seconds", "0")[("robots", None)]
        self.assertEqual((used["open_trials"], used["device_seconds"]["at_most"]), ({"used": 0, "at_most": 1}, 0))
        two = self.call(erin, "study", "run", self.file("two trials", "study", ("0.1", "0.2")), check=False)
        self.assertEqual(two.returncode, 1)
        self.assertIn("trials: team robots has 0 open trials, may have 1 at most, and would have 2", two.stderr)
        self.call(erin, "study", "run", "--detach", self.file("one trial", "study"))
        shown = wait_until(lambda: (study := self.shown(erin, "study", "show", "one trial"))["trials"]["by_state"].get("waiting") and study,
                           "the study to wait")
        self.assertIn("team robots has used 0 of at most 0 device-seconds of today (UTC)", shown["held_back"])
        self.service.stop()
        self.service.start()  # nothing of it is forgotten
        shown = self.shown(erin, "study", "show", "one trial")
        self.assertEqual((shown["steps"]["trained"], shown["trials"]["by_state"]), (0, {"waiting": 1}))
        text = self.service.text("quota", "robots", "--plan-nodes", "1000", "--stored-bytes", "1.5 GB")
        self.assertRegex(text, r"team robots +1 of 1 +1 of 1,000 +0 B of 1.5 GB")
        self.assertIn("stopped: team robots has used", text)
        self.assertNotIn("team vision", text)
        self.quotas("robots", "--device-seconds", "none")
        wait_until(lambda: self.shown(erin, "study", "show", "one trial")["state"] == "finished", "the study to end")
        self.quotas("--user", "erin", "--open-trials", "0")
        refused = self.call(erin, "study", "run", self.file("more", "study"), check=False)
        self.assertIn("user erin has 0 open trials, may have 0 at most", refused.stderr)
        member = self.call(erin, "quota", "--user", "erin", "--open-trials", "none", check=False)
        self.assertIn("administrator", member.stderr)

    def test_a_quota_that_makes_no_sense_is_refused_by_its_option(self):
        for arguments, code, message in (
            (("vision", "--open-trials", "1.5"), 1, "open_trials: expected a whole number up to 2^53, or none"),
            (("vision", "--stored-bytes", "many"), 2, "--stored-bytes"),
            (("vision", "--user", "ann", "--plan-nodes", "1"), 2, "expected a TEAM, --user USER or --study STUDY"),
            (("--user", "ann", "--weight", "2"), 2, "--weight is of a TEAM"),
            (("--user", "nobody", "--plan-nodes", "1"), 1, "there is no user 'nobody'"),
        ):
            result = subprocess.run(self.service.command("quota", *arguments), capture_output=True, text=True,
                                    env=self.service.environment(), timeout=PATIENCE_SECONDS)  # fmt: skip
            self.assertEqual((result.returncode, message in result.stderr), (code, True), result.stderr)

    def test_a_users_token_is_kept_nowhere(self):
        self.assertEqual(self.call(self.ann, "study", "list").returncode, 0)
        digest = hashlib.sha256(self.ann.encode()).hexdigest()
        def holding(text):
            return [path for path in self.service.data.rglob("*")
                    if path.is_file() and not path.is_symlink() and text.encode() in path.read_bytes()]
        self.assertEqual(holding(self.ann.removeprefix("espalier_")), [])
        self.assertNotEqual(holding(digest), [])  # in the database

    def test_a_wrong_token_is_refused_and_the_message_says_what_to_do(self):
        for token, message in ((self.ann[:-8] + "00000000", "nobody has this token"), ("nonsense", "is no token")):
            result = self.call(token, "study", "list", check=False)
            self.assertEqual(result.returncode, 1)
            self.assertIn(message, result.stderr)
            self.assertNotIn(token, result.stderr)

    def test_only_an_administrator_adds_and_lists_users(self):
        for arguments in (["add", "eve", "--team", "vision"], ["list"], ["remove", "ann"]):
            result = self.call(self.bob, "user", *arguments, check=False)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn("only an administrator", result.stderr)

    def test_another_team_sees_nothing(self):
        outputs = []
        for arguments in (["study", "show"], ["trial", "list"], ["plan", "show"], ["study", "cancel"]):
            by_name = self.call(self.bob, *arguments, "secret", check=False)
            absent = self.call(self.bob, *arguments, "absent", check=False)
            self.assertEqual((by_name.returncode, by_name.stdout), (1, ""))
            self.assertEqual(by_name.stderr.replace("secret", "absent"), absent.stderr)
            by_id = self.call(self.bob, *arguments, "1", check=False)
            absent = self.call(self.bob, *arguments, "99", check=False)
            self.assertEqual((by_id.returncode, by_id.stdout), (1, ""))
            self.assertEqual(by_id.stderr.replace("1", "99"), absent.stderr)
            outputs += [by_id.stderr]
        outputs += [self.call(self.bob, *arguments).stdout
                    for arguments in (["study", "list"], ["server", "list"], ["trainer", "list"])]
        for output in outputs:
            for secret in SECRETS:
                self.assertNotIn(secret, output)

    def test_a_team_mate_sees_all_and_changes_nothing(self):
        dan = self.service.json("user", "add", "dan", "--team", "vision")["token"]
        self.assertEqual(self.shown(dan, "study", "show", "secret")["user"], "ann")
        self.assertEqual(self.shown(dan, "trial", "list", "secret"), self.shown(self.ann, "trial", "list", "secret"))
        result = self.call(dan, "study", "cancel", "secret", check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("is ann's", result.stderr)

    def test_what_everyone_shares_is_trained_already_and_nothing_else_is(self):
        def trained(share):
            return self.shown(self.bob, "study", "forecast", self.file("forecast", share))["trained_steps"]
        self.assertEqual([trained(share) for share in ("nobody", "study", "team", "everyone")], [0, 0, 0, 3])
        steps = self.run_study("mine", "everyone", self.bob)["steps"]
        self.assertEqual((steps["trained"], steps["reused"]), (0, 3))
        self.assertEqual(self.run_study("mine, too", "team", self.bob)["steps"]["trained"], 3)
        self.assertEqual(self.shown(self.bob, "trial", "list", "mine")[0]["state_sha256"],
                         self.shown(self.ann, "trial", "list", "secret")[0]["state_sha256"])

    def test_a_removed_users_token_is_worthless_and_a_new_one_finds_the_studies(self):
        first = self.service.json("user", "add", "fay", "--team", "audio")["token"]
        self.run_study("fays", "team", first)
        self.service.run("user", "remove", "fay")
        self.assertEqual(self.call(first, "study", "list", check=False).returncode, 1)
        second = self.service.json("user", "add", "fay", "--team", "audio")["token"]
        self.assertEqual([study["name"] for study in self.shown(second, "study", "list")], ["fays"])


class SeparateMasterTest(unittest.TestCase):
    """A master that is started by hand, on the database of a service that runs."""

    def test_it_makes_the_first_administrator_and_lets_node_managers_in_by_their_own_token(self):
        with Service() as service:
            database = next(line.split('"')[1] for line in (service.data / "config/master.txt").read_text().splitlines()
                            if line.startswith("database"))
            subprocess.run(["psql", "-qd", database, "-c", "CREATE DATABASE other"], check=True, capture_output=True)
            folder = service.root / "other"
            folder.mkdir()
            config = service.write("other/master.txt", f"""
listen_address: "unix:{folder}/master.sock"
database: "{database.replace('dbname=espalier', 'dbname=other')}"
administrator_token_file: "{folder}/administrator"
""")
            master = subprocess.Popen([BIN / "espalier-master", config], stderr=subprocess.DEVNULL)
            try:
                self.check_service(service, folder)
            finally:
                master.terminate()
                self.assertEqual(master.wait(timeout=PATIENCE_SECONDS), 0)

    def check_service(self, service, folder):
        server = ["--server", f"unix:{folder}/master.sock"]
        administrator = [*server, "--token-file", folder / "administrator"]
        wait_until(lambda: (folder / "master.sock").exists(), "the master listens")
        self.assertEqual(stat.S_IMODE((folder / "administrator").stat().st_mode), 0o600)
        self.assertEqual(service.run("study", "list", *server, check=False).returncode, 1)
        self.assertEqual([user["name"] for user in service.json("user", "list", *administrator)], ["local"])
        binds = {"node": ["--servers", "node"], "member": ["--team", "t"]}
        tokens = {role: service.json("user", "add", role, "--role", role, *binds[role], *administrator)["token"] for role in binds}

        def node_manager(role, server):
            token = service.write(f"other/{server}.token", tokens[role])
            config = service.write(f"other/{server}.txt", f"""
master_address: "unix:{folder}/master.sock"
server: "{server}"
slot_count: 1
checkpoint_directory: "{folder}/checkpoints"
work_directory: "{folder}/{server}"
runtimes {{ name: "built-in" command: "{BIN}/espalier-worker" }}
token_file: "{token}"
""")
            with open(folder / f"{server}.log", "w", encoding="utf-8") as log:
                return subprocess.Popen([BIN / "espalier-node", config], stdout=log, stderr=log)

        nodes = [node_manager("member", "member"), node_manager("node", "other"), node_manager("node", "node")]
        try:
            wait_until(lambda: [s["name"] for s in service.json("server", "list", *administrator)] == ["node"],
                       "the node manager is connected")
            wait_until(lambda: "needs a token of its own" in (folder / "member.log").read_text(),
                       "the impostor is refused")
            wait_until(lambda: "is for node, and not for the server 'other'" in (folder / "other.log").read_text(),
                       "a server that the token is not for is refused")
            self.assertEqual([s["name"] for s in service.json("server", "list", *administrator)], ["node"])
        finally:
            for node in nodes:
                node.terminate()
            for node in nodes:
                node.wait(timeout=PATIENCE_SECONDS)


if __name__ == "__main__":
    unittest.main(verbosity=2)
