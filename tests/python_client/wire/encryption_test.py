"""Who is called by TLS, with which files, and what is wrong with them."""

import os
import pathlib
import subprocess
import tempfile
import unittest
import unittest.mock

import espalier as es
import grpc
from espalier.client.encryption import Encryption, is_on_this_machine
from espalier.client.protocol import messages
from fake_master import TOKEN, FakeMaster

MAKE = pathlib.Path(__file__).parents[2] / "support" / "certificates.sh"
HASTY = es.RetryPolicy(first_connection_patience=0.5)
ELSEWHERE = "10.0.0.5:7700"


class EncryptionTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="espalier")))
        for authority, name, alternatives in [("ca", "server", "DNS:espalier,IP:127.0.0.1"), ("ca", "ann", "DNS:ann"),
                                              ("other-ca", "eve", "DNS:eve")]:  # fmt: skip
            subprocess.run([MAKE, cls.folder, authority, name, alternatives], check=True)

    def file(self, name):
        return str(self.folder / name)

    def credentials(self, asks=False):
        pair = ((self.folder / "server.key").read_bytes(), (self.folder / "server.pem").read_bytes())
        return grpc.ssl_server_credentials([pair], (self.folder / "ca.pem").read_bytes() if asks else None, asks)

    def is_let_in(self, master, **said):
        try:
            with es.connect(master.address, token=TOKEN, policy=HASTY, **said) as client:
                client.connection.call("GetStudy", study_id=1)
            return True
        except es.Unavailable:
            return False

    def test_an_address_is_on_this_machine_if_it_is_a_sockets_or_all_its_hosts_are_loopback_ones(self):
        for address in ("unix:/run/espalier/master.sock", "localhost:7700", "127.0.0.1:7700", "127.8.9.1:1", "[::1]:7700",
                        "ipv4:127.0.0.1:7700,127.0.0.2:7700", "dns:///localhost:7700"):  # fmt: skip
            self.assertTrue(is_on_this_machine(address), address)
        for address in ("0.0.0.0:7700", "[::]:7700", ELSEWHERE, "espalier.example:7700", "localhost.example:7700",
                        "ipv4:127.0.0.1:7700,10.0.0.5:7700", "dns://127.0.0.1/espalier.example:7700"):  # fmt: skip
            self.assertFalse(is_on_this_machine(address), address)

    def test_beyond_this_machine_calls_are_encrypted_unless_somebody_says_plaintext(self):
        self.assertTrue(Encryption().applies(ELSEWHERE))
        self.assertFalse(Encryption().applies("127.0.0.1:7700"))
        self.assertFalse(Encryption(plaintext=True).applies(ELSEWHERE))
        self.assertTrue(Encryption(ca_file="ca.pem").applies("127.0.0.1:7700"))
        self.assertFalse(Encryption(ca_file="ca.pem").applies("unix:/socket"))

    def test_what_is_wrong_names_its_field(self):
        for field, said in [
            ("plaintext", {"plaintext": True, "ca_file": self.file("ca.pem")}),
            ("ca_file", {"ca_file": self.file("absent")}),
            ("ca_file", {"ca_file": self.file("ca.key")}),
            ("certificate_file", {"key_file": self.file("ann.key")}),
            ("certificate_file", {"key_file": self.file("ann.key"), "certificate_file": self.file("ann.key")}),
            ("key_file", {"certificate_file": self.file("ann.pem")}),
            ("key_file", {"certificate_file": self.file("ann.pem"), "key_file": self.file("ann.pem")}),
        ]:
            with self.subTest(said), self.assertRaises(es.InvalidArgument) as raised:
                es.connect(ELSEWHERE, token=TOKEN, policy=HASTY, **said)
            self.assertEqual(raised.exception.field, field)
        with self.assertRaises(es.InvalidArgument) as raised:
            es.connect("ipv4:10.0.0.5:7700,10.0.0.6:7700", token=TOKEN)
        self.assertEqual(raised.exception.field, "server_name")

    def test_a_master_with_a_certificate_is_called_by_those_who_trust_its_authority(self):
        with FakeMaster(self.credentials(), GetStudy=messages.GetStudyResponse()) as master:
            self.assertTrue(self.is_let_in(master, ca_file=self.folder / "ca.pem"))
            self.assertTrue(self.is_let_in(master, ca_file=self.file("ca.pem"), server_name="espalier"))
            self.assertFalse(self.is_let_in(master, ca_file=self.file("ca.pem"), server_name="espalier.example"))
            self.assertFalse(self.is_let_in(master, ca_file=self.file("other-ca.pem")))
            self.assertFalse(self.is_let_in(master, server_name="espalier"))
            self.assertFalse(self.is_let_in(master))
            with unittest.mock.patch.dict(os.environ, {"ESPALIER_CA_FILE": self.file("ca.pem"), "ESPALIER_SERVER": master.address}):
                with es.connect(token=TOKEN, policy=HASTY) as client:
                    client.connection.call("GetStudy", study_id=1)

    def test_a_master_that_asks_for_certificates_is_called_by_those_who_have_one_alone(self):
        with FakeMaster(self.credentials(asks=True), GetStudy=messages.GetStudyResponse()) as master:
            ann = {"certificate_file": self.file("ann.pem"), "key_file": self.file("ann.key")}
            eve = {"certificate_file": self.file("eve.pem"), "key_file": self.file("eve.key")}
            self.assertTrue(self.is_let_in(master, ca_file=self.file("ca.pem"), **ann))
            self.assertFalse(self.is_let_in(master, ca_file=self.file("ca.pem"), **eve))
            self.assertFalse(self.is_let_in(master, ca_file=self.file("ca.pem")))


if __name__ == "__main__":
    unittest.main()
