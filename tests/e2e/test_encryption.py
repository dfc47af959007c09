"""A master beyond one machine: by TLS, as docs/operations.md says it is set up, or not at all."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import studies
from own_master import OwnMaster
from service import BIN, PATIENCE_SECONDS, Service
from test_two_masters import free_port

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "documents"))
from blocks import blocks_of  # noqa: E402

NAME = "espalier.example"


def make_certificates(folder):
    """By the recipe in the documents, for this machine; and one for a client."""
    document = "docs/operations.md"
    recipe = next(block for block in blocks_of(document, (ROOT / document).read_text()) if "openssl" in block.text)
    text = recipe.text.replace("IP:10.0.0.5", "IP:127.0.0.1")
    subprocess.run(["bash", "-eu", "-c", text], cwd=folder, check=True, capture_output=True, timeout=PATIENCE_SECONDS)
    subprocess.run([ROOT / "tests" / "support" / "certificates.sh", folder, "ca", "ann", "DNS:ann"], check=True)


class Encrypted(OwnMaster):
    """A master that shows a certificate and asks for one, and a node manager that has one."""

    def prepare(self):
        make_certificates(self.root)
        self.master_lines = (f'certificate_file: "{self.root}/master.pem"\nkey_file: "{self.root}/master.key"\n'
                             f'client_ca_file: "{self.root}/ca.pem"\n')
        self.node_lines = (f'ca_file: "{self.root}/ca.pem"\nserver_name: "{NAME}"\ncertificate_file: "{self.root}/ann.pem"\n'
                           f'key_file: "{self.root}/ann.key"\n')

    def command(self, *arguments):
        return Service.command(self, *arguments)

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
            service.run("study", "run", service.write("study.yaml", studies.sha("small", "team")))
            self.assertEqual("finished", service.json("study", "show", "small")["state"])

            def refused(*options, **variables):
                service.variables = variables
                result = service.run("study", "list", *options, check=False)
                service.variables = {}
                self.assertEqual(3, result.returncode, result.stdout)
                return result.stderr

            none = {"ESPALIER_CERTIFICATE_FILE": "", "ESPALIER_KEY_FILE": ""}
            for options, variables in [((), none), (("--server-name", "other.example"), {}), ((), {**none, "ESPALIER_CA_FILE": ""}),
                                       (("--plaintext",), {**none, "ESPALIER_CA_FILE": ""})]:
                with self.subTest((options, variables)):
                    self.assertRegex(refused(*options, **variables), "do not come together: if it encrypts, ca_file has to be its authority's")

    def test_beyond_this_machine_a_master_does_not_start_without_a_certificate(self):
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "master.txt"
            config.write_text(f'listen_address: "0.0.0.0:{free_port()}"\ndatabase: "host={folder}"\n')
            result = subprocess.run([BIN / "espalier-master", config], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
            self.assertEqual(2, result.returncode, result.stderr)
            self.assertRegex(result.stderr, "listen_address: .* is beyond this machine: set certificate_file and key_file")


if __name__ == "__main__":
    unittest.main()
