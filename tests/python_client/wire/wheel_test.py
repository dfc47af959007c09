"""The wheel: built from a copy of the checkout, and installed into a new environment, which sees the packages that it depends on."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import venv
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = """
import sys
sys.modules["grpc_tools"] = None  # nobody who installs it needs that
import espalier as es
try:
    es.connect(data="/nowhere")
except es.Unavailable as error:
    print(error.code)
from espalier.client.protocol import messages, methods
print(es.__file__, len(methods()), messages.CreateStudyRequest(study={"name": "one"}).study.name)
print([name for name in ("torch", "numpy", "pandas") if name in sys.modules])
"""


def run(*command):
    ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


class WheelTest(unittest.TestCase):
    def test_it_is_for_every_platform_and_what_it_installs_needs_neither_a_checkout_nor_pytorch(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        ignored = shutil.ignore_patterns("build", "*.egg-info", "__pycache__")
        shutil.copytree(ROOT / "client/python", folder / "checkout/client/python", ignore=ignored)
        shutil.copytree(ROOT / "proto", folder / "checkout/proto")
        run(sys.executable, "-m", "pip", "wheel", folder / "checkout/client/python", "--no-deps", "--no-index", "--no-build-isolation",
            "--disable-pip-version-check", "--wheel-dir", folder)  # fmt: skip
        (wheel,) = folder.glob("*.whl")
        self.assertRegex(wheel.name, r"^espalier_hpo-[\d.]+-py3-none-any\.whl$")
        shutil.rmtree(folder / "checkout")
        names = zipfile.ZipFile(wheel).namelist()
        for name in ("client/protocol.bin", "client/study.py", "client/plots/tree.py", "sequences/families.py", "lightning/adapter.py",
                     "export/table.py", "mcp/__main__.py", "py.typed", "__init__.pyi"):  # fmt: skip
            self.assertIn(f"espalier/{name}", names)
        self.assertIn("hydra_plugins/espalier_sweeper/sweeper.py", names)

        environment = folder / "environment"
        venv.create(environment, with_pip=False, symlinks=True)
        python = environment / "bin/python"
        packages = pathlib.Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
        run(sys.executable, "-m", "pip", "--python", python, "install", wheel, "--no-deps", "--no-index", "--disable-pip-version-check")
        (packages / "dependencies.pth").write_text("".join(f"{path}\n" for path in sys.path if path.endswith("site-packages")))
        code, where, loaded = run(python, "-I", "-c", PROGRAM).splitlines()
        self.assertEqual(code, "UNAVAILABLE")
        self.assertIn(str(packages / "espalier/__init__.py"), where)
        self.assertRegex(where, r" \d\d one$")
        self.assertEqual(loaded, "[]")


if __name__ == "__main__":
    unittest.main()
