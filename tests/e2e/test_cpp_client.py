"""The C++ client library as its users have it: installed, with examples/cpp_client built against that copy alone; and the packages."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

from service import BIN, Service
from test_own_trainers import write_points

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILT = BIN.parent
FOLDER = BUILT / "cpp_client"  # always the same, so that ccache knows what it has compiled
PREFIX = FOLDER / "prefix"
HEADERS = PREFIX / "include" / "espalier"
PROGRAM = FOLDER / "build" / "digits-study"
OWN = FOLDER / "build" / "own-trainer"
# What users include; the other installed headers are what these need.
ENTRANCES = ("client/client.h", "client/tune.h", "client/space/search_space.h", "client/space/sampling.h", "client/tuners/registry.h")
INCLUDE = re.compile(r'^#include ["<]([^">]+)[">]', re.MULTILINE)


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise AssertionError(f"{command} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def setUpModule():
    shutil.rmtree(FOLDER, ignore_errors=True)
    run("cmake", "--install", BUILT, "--component", "client", "--prefix", PREFIX)
    run("cmake", "-S", ROOT / "examples" / "cpp_client", "-B", FOLDER / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={PREFIX}",
        "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Wshadow -Werror", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")  # fmt: skip
    run("cmake", "--build", FOLDER / "build")


def tearDownModule():
    shutil.rmtree(FOLDER)


def included(header):
    return set(INCLUDE.findall((HEADERS / header).read_text()))


def unindented(text):
    return "\n".join(line.strip() for line in text.splitlines())


class CppClientTest(unittest.TestCase):
    def test_what_its_documentation_quotes_is_what_the_example_says(self):
        for language, files in (("cpp", ("main.cc", "own_trainer.cc")), ("cmake", ("CMakeLists.txt",))):
            example = "\n".join(unindented((ROOT / "examples" / "cpp_client" / file).read_text()) for file in files)
            quoted = re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / "docs" / "cpp_client.md").read_text(), re.MULTILINE | re.DOTALL)
            self.assertTrue(quoted)
            for text in quoted:
                self.assertIn(unindented(text), example)

    def test_the_example_tunes_a_study_twice_and_branches_its_best_trial(self):
        with Service() as service:
            said = run(PROGRAM, env=service.environment(), timeout=600)
            forecast = re.search(r"forecast: 6 trials, 48 steps, of which (\d+) are unique", said)
            self.assertIsNotNone(forecast, said)
            self.assertLess(int(forecast.group(1)), 48)
            self.assertIn("successive halving: 4 trials, 7 evaluations\ngrid: 2 trials\n", said)
            self.assertEqual(said.count("settled: done"), 2, said)
            best = re.search(r"best: trial (\d+), test_acc (\S+) at step", said)
            shown = service.json("study", "show", "digits-in-cpp")["best"]
            self.assertEqual(int(best.group(1)), shown["trial"])
            self.assertAlmostEqual(float(best.group(2)), shown["value"], places=5)
            self.assertEqual(len(re.findall(r"decayed at step \d+: test_acc 0\.\d+", said)), 2, said)
            self.assertEqual(service.json("study", "show", "digits-in-cpp")["state"], "finished")

    def test_trainers_of_the_users_own_and_his_data_are_trained_though_no_server_has_heard_of_them(self):
        with Service() as service:
            def own(*arguments):
                place = {"PATH": f"{BIN}:{os.environ['PATH']}"}
                return subprocess.run([OWN, *arguments], cwd=service.root, env=service.environment() | place, capture_output=True, text=True,
                                      timeout=600, check=False)  # fmt: skip

            shutil.copy(ROOT / "examples" / "script" / "line.py", service.root)
            write_points(service.root / "points", seed=1)
            (service.root / "worker.sh").write_text(f'#!/bin/sh\nexec "{BIN}/espalier-worker" --trainer "$1" --fd "$3"\n')
            (service.root / "worker.sh").chmod(0o755)
            for trainer, metric, data in (("script:line.py", "mse", ()), ("mlp", "test_acc", ("points",)), ("command:./worker.sh mlp", "test_acc", ("digits",))):
                with self.subTest(trainer):
                    ran = own(trainer, metric, *data)
                    self.assertRegex(ran.stdout, rf"at step 4: done.* {metric} \d\.\d+", ran.stderr)
                    self.assertIn("to look at", ran.stderr)
                    name, size = re.search(r"(trial-\d+\.safetensors): (\d+) bytes, after step 4", ran.stdout).groups()
                    self.assertEqual((service.root / name).stat().st_size, int(size))
                    trial = re.search(r"\d+", name)[0]
                    self.assertEqual(service.json("checkpoint", "export", trial, service.root / f"same-{trial}")["bytes"], int(size))
                    self.assertEqual((service.root / name).read_bytes(), (service.root / f"same-{trial}").read_bytes())
            (service.root / "line.py").write_text("raise SystemExit('no such luck')\n")
            ran = own("script:line.py", "mse")
            self.assertEqual(ran.returncode, 1)
            self.assertRegex(ran.stderr, "(?s)^trainer: .*no such luck")

    def test_without_a_server_it_says_what_is_missing(self):
        done = subprocess.run([PROGRAM, f"unix:{FOLDER}/nothing"], capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, f"no server answers at unix:{FOLDER}/nothing; start one with: espalier up\n"))

    def test_what_is_installed_is_what_users_include_and_what_that_includes(self):
        needed, left = set(), list(ENTRANCES)
        while left:
            header = left.pop()
            if header not in needed:
                needed.add(header)
                left += [name.removeprefix("espalier/") for name in included(header) if name.startswith("espalier/")]
        installed = {str(path.relative_to(HEADERS)) for path in HEADERS.rglob("*.h")}
        self.assertEqual(installed, needed)
        others = {name for header in installed for name in included(header) if "/" in name and not name.startswith("espalier/")}
        self.assertEqual(others, {"tl/expected.hpp"})

    def test_whoever_includes_them_reads_nothing_of_protobuf_and_grpc_and_nothing_of_the_sources(self):
        read = run("c++", "-std=c++20", "-M", f"-I{PREFIX}/include", ROOT / "examples" / "cpp_client" / "main.cc")
        self.assertIn(str(HEADERS / "client" / "study.h"), read)
        for foreign in ("google/", "grpc", ".pb.h", f"{ROOT}/base", f"{ROOT}/client"):
            self.assertNotIn(foreign, read)


class PackagesTest(unittest.TestCase):
    def test_packages_hold_the_client_and_the_programs_and_name_what_they_need(self):
        run("cpack", "-G", "DEB", "-B", FOLDER / "packages", cwd=BUILT)
        [client] = (FOLDER / "packages").glob("libespalier-client-dev_*.deb")
        [programs] = (FOLDER / "packages").glob("espalier_*.deb")
        held = files_of(client)
        headers = {name.removeprefix("usr/include/espalier/") for name in held if name.startswith("usr/include/")}
        self.assertEqual(headers, {str(path.relative_to(HEADERS)) for path in HEADERS.rglob("*.h")})
        self.assertEqual(len([name for name in held if name.endswith(("/libespalier-client.a", "/cmake/Espalier/EspalierConfig.cmake"))]), 2)
        self.assertIn("libgrpc++-dev", run("dpkg-deb", "-f", client, "Depends"))

        held = files_of(programs)
        wanted = {"espalier", "espalier-master", "espalier-node", "espalier-worker", "espalier-store", "espalier-script", "espalier-check"}
        self.assertEqual({name.removeprefix("usr/bin/") for name in held if name.startswith("usr/bin/")}, wanted)
        for name in ("man/man1/espalier.1", "bash-completion/completions/espalier", "zsh/vendor-completions/_espalier",
                     "fish/vendor_completions.d/espalier.fish"):  # fmt: skip
            self.assertIn(f"usr/share/{name}", held)
        depends = run("dpkg-deb", "-f", programs, "Depends")
        for name in ("postgresql", "libgrpc++", "libyaml-cpp"):  # the first is started, the others are linked
            self.assertIn(name, depends)

        run("dpkg-deb", "-x", programs, FOLDER / "unpacked")
        version = run("dpkg-deb", "-f", programs, "Version").strip()
        self.assertEqual(run(FOLDER / "unpacked" / "usr" / "bin" / "espalier", "--version").strip(), f"espalier {version}")


def files_of(package):
    """Without folders."""
    names = (line.split(maxsplit=5)[5] for line in run("dpkg-deb", "-c", package).splitlines())
    return {name.removeprefix("./") for name in names if not name.endswith("/")}


if __name__ == "__main__":
    unittest.main(verbosity=2)
