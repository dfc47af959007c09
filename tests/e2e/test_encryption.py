"""A master beyond one machine: by TLS, as docs/operations.md says it is set up, or not at all."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

from service import BIN, PATIENCE_SECONDS, wait_until
from test_two_masters import Masters, free_port

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "documents"))
from blocks import blocks_of  # noqa: E402

NAME = "espalier.example"


def make_certificates(folder):
    """By the recipe in the documents, for this machine; and one for a client."""
    recipe = next(block for block in blocks_of(ROOT / "docs" / "operations.md") if "openssl" in block.text)
    text = recipe.text.replace("IP:10.0.0.5", "IP:127.0.0.1")
    subprocess.run(["bash", "-eu", "-c", text], cwd=folder, check=True, capture_output=True, timeout=PATIENCE_SECONDS)
    subprocess.run([ROOT / "tests" / "support" / "certificates.sh", folder, "ca", "ann", "DNS:ann"], check=True)


class Encrypted(Masters):
    """A master of its own that shows a certificate and asks for one, and a node manager that has one."""

    def __enter__(self):
        super().__enter__()
        make_certificates(self.root)
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.masters[0] = self.launch("espalier-master", "master", self.master_config(
            self.address, f'certificate_file: "{self.root}/master.pem"\nkey_file: "{self.root}/master.key"\n'
                          f'client_ca_file: "{self.root}/ca.pem"\n'))
        self.tokens_made = wait_until(lambda: (self.root / "token").exists() and (self.root / "node-token").exists(), "tokens are there")
        self.node = self.launch("espalier-node", "node", (
            f'master_address: "{self.address}"\nserver: "local"\nslot_count: 2\ncheckpoint_directory: "{self.root}/checkpoints"\n'
            f'work_directory: "{self.root}/node"\nruntimes {{ name: "built-in" command: "{BIN}/espalier-worker" }}\n'
            f'token_file: "{self.root}/node-token"\nca_file: "{self.root}/ca.pem"\nserver_name: "{NAME}"\n'
            f'certificate_file: "{self.root}/ann.pem"\nkey_file: "{self.root}/ann.key"\n'))
        wait_until(self.servers, "the node manager is connected")
        return self

    def master_config(self, address, more):
        return (f'listen_address: "{address}"\ndatabase: "{self.database}"\nadministrator_token_file: "{self.root}/token"\n'
                f'local_node_token_file: "{self.root}/node-token"\n{more}')

    def command(self, *arguments):
        return [BIN / "espalier", *arguments]

    def environment(self):
        own = super().environment()
        if getattr(self, "node", None) is None:
            return own
        return {**own, "ESPALIER_SERVER": self.address, "ESPALIER_TOKEN": (self.root / "token").read_text().strip(),
                "ESPALIER_CA_FILE": f"{self.root}/ca.pem", "ESPALIER_CERTIFICATE_FILE": f"{self.root}/ann.pem",
                "ESPALIER_KEY_FILE": f"{self.root}/ann.key", **self.variables}


class EncryptionTest(unittest.TestCase):
    def test_who_trusts_the_authority_and_has_a_certificate_runs_a_study_and_nobody_else_is_let_in(self):
        with Encrypted() as service:
            file = service.write("study.yaml", STUDY)
            service.run("study", "run", str(file))
            self.assertEqual("finished", service.show("small")["state"])

            def refused(*options, **variables):
                service.variables = variables
                result = service.run("study", "list", *options, check=False)
                service.variables = {}
                self.assertEqual(3, result.returncode, result.stdout)
                return result.stderr

            none = {"ESPALIER_CERTIFICATE_FILE": "", "ESPALIER_KEY_FILE": ""}
            print(refused(**none), refused("--server-name", "other.example"), refused(**none, ESPALIER_CA_FILE=""),
                  refused("--plaintext", **none, ESPALIER_CA_FILE=""))

    def test_beyond_this_machine_a_master_does_not_start_without_a_certificate(self):
        folder = pathlib.Path(self.enterContext(__import__("tempfile").TemporaryDirectory()))


STUDY = """study: small
trainer: synthetic
"""

if __name__ == "__main__":
    unittest.main()
