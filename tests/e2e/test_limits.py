"""What is too much is refused with one clear error, or served; the service goes on as before, and nothing is left half done."""

import unittest

import studies
from service import Service

GOOD = studies.grid("good", ["0.1"], 2)


def replaced(right, wrong):
    assert right in GOOD
    return GOOD.replace(right, wrong)


def table(entries, entry="0.1"):
    return "lr: ['Table([" + ",".join([entry] * entries) + "])']"


REFUSED = {  # the study file; what the error must say
    "steps of 2^60": (replaced("steps: 2", f"steps: {2**60}"), ["1152921504606846976", "2^53"]),
    "steps beyond 64 bits": (replaced("steps: 2", f"steps: {2**70}"), ["tuner.grid.steps"]),
    "a table of a million entries": (replaced("lr: [0.1]", table(1_000_000)), ["hyper_parameters.lr", "1048576 bytes"]),
    "a request of 100 MB": (replaced("lr: [0.1]", table(5_500_000, "0.123456789012345")), ["bytes"]),
    "ten million periods": (replaced("lr: [0.1]", "lr: ['CyclicLR(0.01, 0.1, 1, 1)']").replace("steps: 2", "steps: 10000000"),
                            ["hyper_parameters.lr", "1000000 segments"]),
    "ten thousand unknown hyper-parameters": (
        replaced("lr: [0.1]", "\n".join(["lr: [0.1]"] + [f"  h{i}: 0.1" for i in range(10_000)])),
        ["hyper_parameters.h0", "mlp has no"]),
    "an overlong name": (replaced("study: good", "study: " + "x" * 100_000), ["study", "200 bytes"]),
    "functions nested too deep": (replaced("lr: [0.1]", "lr: ['" + "Warmup(0.01, 1, " * 5000 + "0.1" + ")" * 5000 + "']"),
                                  ["hyper_parameters.lr", "nested"]),
    "a million trials": (replaced("lr: [0.1]", "lr: [" + ", ".join(str(i + 1) for i in range(1000)) + "]\n  momentum: [" +
                                  ", ".join(f"0.{i:04d}" for i in range(1000)) + "]"), ["hyper_parameters", "100000"]),
}


class LimitsTest(unittest.TestCase):
    def test_what_is_too_much_is_refused_by_forecast_and_run_alike_and_leaves_nothing(self):
        with Service() as service:
            for name, (text, words) in REFUSED.items():
                for verb in ("forecast", "run"):
                    with self.subTest(name, verb=verb):
                        result = service.run("study", verb, service.write("study.yaml", text), check=False)
                        self.assertIn(result.returncode, (1, 2), result.stderr[:1000])
                        lines = result.stderr.strip().splitlines()
                        self.assertEqual(len(lines), 1, result.stderr[:1000])
                        self.assertLess(len(lines[0]), 1000)
                        for word in words:
                            self.assertIn(word, lines[0])
            self.assertEqual(service.json("study", "list"), [])
            service.run("study", "run", service.write("study.yaml", GOOD))

    def test_a_file_whose_trials_the_master_refuses_can_be_mended_and_run_under_its_name(self):
        too_long_when_spelled_out = replaced("lr: [0.1]", table(500_000, "1"))
        with Service() as service:
            refused = service.run("study", "run", service.write("study.yaml", too_long_when_spelled_out), check=False)
            self.assertEqual(refused.returncode, 2, refused.stderr[:1000])
            self.assertIn("hyper_parameters.lr", refused.stderr)
            self.assertIn("1048576 bytes", refused.stderr)
            service.run("study", "run", service.write("study.yaml", GOOD))

    def test_what_is_large_but_allowed_is_served(self):
        with Service() as service:
            long_table = "lr: ['Table([" + ",".join(str(1 + i % 9) for i in range(300_000)) + "])', 1]"
            for name, text in {
                "a table of 300,000 entries": replaced("lr: [0.1]", long_table),
                "a million steps of periods": replaced("lr: [0.1]", "lr: ['CyclicLR(0.01, 0.1, 5, 5)', 0.1]").replace(
                    "steps: 2", "steps: 1000000"),
                "a horizon of 2^53": replaced("lr: [0.1]", "lr: ['Exponential(0.1, 0.999)', 0.1]").replace(
                    "steps: 2", f"steps: {2**53}"),
            }.items():
                with self.subTest(name):
                    forecast = service.json("study", "forecast", service.write("study.yaml", text))
                    self.assertEqual(forecast["trials"], 2)
                    self.assertGreater(forecast["unique_steps"], 0)

    def test_a_study_whose_trials_are_too_many_segments_for_one_batch_is_trained(self):
        # Each would change at each of a thousand steps: two requests of one batch. One is trained so far.
        rates = ", ".join(f'"CyclicLR(0.{i:03d}, 1, 1, 1)"' for i in range(1, 22))
        text = replaced("lr: [0.1]", f"lr: [{rates}]").replace("trainer: mlp", "trainer: synthetic")
        text = text.replace("grid: {steps: 2}", "sha: {min: 2, max: 1000, reduction: 500}")
        text = "\n".join(line for line in text.splitlines() if not line.startswith(("data:", "step:"))) + "\n"
        with Service() as service:
            shown = service.json("study", "run", service.write("study.yaml", text))
            self.assertEqual(shown["trials"]["by_state"], {"done": 21})
            self.assertEqual((shown["steps"]["claimed"], shown["steps"]["trained"]), (1040, 1040))
            self.assertEqual(len(service.json("trial", "list", "good")), 21)

    def test_a_study_of_ten_thousand_hyper_parameters_is_trained(self):
        parameters = ['  h0: [0.1, "Piecewise([0.1, 0.2], [3])"]'] + [f"  h{i}: 0.{i}" for i in range(1, 10_000)]
        text = replaced("  lr: [0.1]", "\n".join(parameters)).replace("trainer: mlp", "trainer: synthetic")
        text = "\n".join(line for line in text.splitlines() if not line.startswith(("data:", "step:"))) + "\n"
        with Service() as service:
            shown = service.json("study", "run", service.write("study.yaml", text.replace("steps: 2", "steps: 6")))
            self.assertEqual(shown["trials"]["by_state"], {"done": 2})
            self.assertEqual((shown["steps"]["claimed"], shown["steps"]["trained"]), (12, 9))


if __name__ == "__main__":
    unittest.main(verbosity=2)
