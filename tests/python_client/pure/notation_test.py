"""Sequences as objects, and the one notation that they print and are read from."""

import math
import pathlib
import random
import re
import struct
import unittest

import espalier as es
from espalier.sequences.values import printed

ROOT = pathlib.Path(__file__).resolve().parents[3]


def golden_lines():
    """(expression, values) of each sequence that the service's programs have printed."""
    for line in (ROOT / "tests/golden/sequence_values.txt").read_text().splitlines():
        if line.startswith("  "):
            expression, _, values = line.strip().partition(": ")
            yield expression, re.findall(r"-> ([^;]+);", values)


class NotationTest(unittest.TestCase):
    def test_every_family_prints_the_notation_and_is_read_back_from_it(self):
        for sequence, text in [
            (es.Constant(0.1), "Constant(0.1)"),
            (es.Constant("sgd"), 'Constant("sgd")'),
            (es.Linear(0.1, -0.001), "Linear(0.1, -0.001)"),
            (es.LinearTo(0.01, 0.1, 40), "LinearTo(0.01, 0.1, 40)"),
            (es.Step(0.1, 30, gamma=0.5), "Step(0.1, 30, 0.5)"),
            (es.MultiStep(0.1, [40, 60], gamma=0.1), "MultiStep(0.1, [40, 60], 0.1)"),
            (es.Exponential(0.1, 0.95), "Exponential(0.1, 0.95)"),
            (es.Polynomial(0.1, 80, 0.9), "Polynomial(0.1, 80, 0.9)"),
            (es.Polynomial(0.1, 80, 0.9, 0.01), "Polynomial(0.1, 80, 0.9, end=0.01)"),
            (es.Cosine(0.1, 0, 75), "Cosine(0.1, 0, 75)"),
            (es.Cosine(0.1, 0.0, 20, gamma=2), "Cosine(0.1, 0.0, 20, gamma=2)"),
            (es.Sinusoid(0.04, 50, offset=0.06), "Sinusoid(0.04, 50, offset=0.06)"),
            (es.CyclicLR(0.01, 0.1, 20, 30), "CyclicLR(0.01, 0.1, 20, 30)"),
            (es.OneCycle(0.1, 100, anneal="linear", three_phase=True), 'OneCycle(0.1, 100, anneal="linear", three_phase=true)'),
            (es.OneCyclePhase(0.1, 0.2, 0, 9.5), "OneCyclePhase(0.1, 0.2, 0, 9.5)"),
            (es.InverseSqrt(0.1, 10), "InverseSqrt(0.1, timescale=10)"),
            (es.Cooldown(0.1, 0, 80, "sqrt"), 'Cooldown(0.1, 0, 80, shape="sqrt")'),
            (es.WSD(0.1, 90, 9, warmup_steps=5), "WSD(0.1, 90, 9, warmup_steps=5)"),
            (es.Warmup(0.01, 5, es.Cosine(0.1, 0, 75)), "Warmup(0.01, 5, Cosine(0.1, 0, 75))"),
            (es.Piecewise([0.1, es.Exponential(0.05, 0.9)], [40]), "Piecewise([0.1, Exponential(0.05, 0.9)], [40])"),
            (es.Table([0.1, 0.3, 0.05]), "Table([0.1, 0.3, 0.05])"),
            (es.Scale(0.5, es.Warmup(0.01, 5, 0.1)), "Scale(0.5, Warmup(0.01, 5, 0.1))"),
            (es.Every(10, es.Exponential(0.1, 0.8)), "Every(10, Exponential(0.1, 0.8))"),
        ]:
            with self.subTest(text):
                self.assertEqual(str(sequence), text)
                self.assertEqual(es.parse(text), sequence)
                self.assertEqual(eval(repr(sequence), {"es": es}), sequence)

    def test_there_is_a_class_for_each_family_of_the_document(self):
        document = (ROOT / "docs/sequences.md").read_text()
        families = set(re.findall(r"^### (\w+)\(", document, re.MULTILINE)) | {"Every", "OneCyclePhase"}
        self.assertEqual({name for name, place in es._PLACES.items() if place == "sequences.families"}, families)
        self.assertTrue(all(issubclass(getattr(es, name), es.Sequence) for name in families))

    def test_what_the_service_has_printed_is_read_and_printed_as_it_did(self):
        count = 0
        for expression, values in golden_lines():
            with self.subTest(expression):
                read = es.parse(expression)
                self.assertEqual(es.parse(str(read) if isinstance(read, es.Sequence) else printed(read)), read)
                for value in values:
                    self.assertEqual(printed(es.parse(value)), value)
                    count += 1
        self.assertGreater(count, 300)

    def test_every_number_is_printed_in_the_shortest_form_that_reads_back(self):
        for value, text in [(0.1, "0.1"), (1.0, "1.0"), (1e5, "1e+05"), (12345678.0, "12345678.0"), (0.001, "0.001"), (1e-5, "1e-05"),
                            (0.00012, "0.00012"), (1e16, "1e+16"), (123456789012345680.0, "123456789012345680.0"), (-0.0, "0.0"),
                            (-2.5, "-2.5"), (5e-324, "5e-324"), (1.7976931348623157e308, "1.7976931348623157e+308")]:  # fmt: skip
            self.assertEqual(printed(es.parse(repr(value))), text)
        draw = random.Random(seed := random.randrange(2**32))
        for _ in range(3000):
            value = struct.unpack("<d", draw.randbytes(8))[0]
            if math.isfinite(value):
                self.assertEqual(float(printed(value)), value, f"seed {seed}")

    def test_texts_are_quoted_with_what_needs_it_escaped(self):
        for text in ("sgd", 'a "b" \\ c', "a\nb\tc\x01\x7f", "größer"):
            self.assertEqual(es.parse(printed(text)), text)
        self.assertEqual(printed('"\n\x01'), '"\\"\\n\\x01"')

    def test_ranges_stand_in_the_place_of_any_argument(self):
        sequence = es.Exponential(es.loguniform(1e-3, 1), 0.95)
        self.assertEqual(str(sequence), "Exponential(loguniform(0.001, 1), 0.95)")
        self.assertEqual(es.parse(str(sequence)), sequence)
        for each in (es.uniform(0, 1), es.integer(1, 8), es.choice("sgd", "adam"), es.choice(0.1, es.Cosine(0.1, 0, 20))):
            self.assertEqual(es.parse(str(each)), each)
            self.assertEqual(eval(repr(each), {"es": es}), each)
        self.assertEqual(str(es.MultiStep(0.1, [es.integer(10, 40)], 0.1)), "MultiStep(0.1, [integer(10, 40)], 0.1)")

    def test_what_makes_no_sense_is_refused_with_family_argument_and_what_was_expected(self):
        for make, expected in [
            (lambda: es.MultiStep(0.1, [80, 60], 0.1), "MultiStep: milestones: must be strictly increasing, got 60 after 80"),
            (lambda: es.Cosine(0.1, 0, 7.5), "Cosine: period: expected a whole number from 1 to 2^53, got 7.5"),
            (lambda: es.Cosine(0.1, 0, 0), "Cosine: period: expected a whole number from 1"),
            (lambda: es.Exponential(0.1, -1), "Exponential: gamma: expected a number greater than 0, got -1"),
            (lambda: es.Exponential("0.1", 0.9), "Exponential: init: expected a number, got '0.1'"),
            (lambda: es.Constant(float("nan")), "Constant: init: expected a finite number, got nan"),
            (lambda: es.Constant(2**64), "at most 64 bits"),
            (lambda: es.Constant([0.1]), "Constant: init: expected a number, a text, True or False, got [0.1]"),
            (lambda: es.Cooldown(0.1, 0, 80, "square_root"), "Cooldown: shape: expected one of linear, cosine, sqrt"),
            (lambda: es.Piecewise([0.1, 0.2], [10, 20]), "Piecewise: milestones: expected 1 for 2 pieces, got 2"),
            (lambda: es.Piecewise([], []), "Piecewise: pieces: expected a list of at least one sequence"),
            (lambda: es.WSD(0.1, 10, 8, 5), "at most total_steps, got 5 + 8 > 10"),
            (lambda: es.Table(3), "Table: values: expected a list of at least one value, got 3"),
            (lambda: es.Warmup(0.1, 5, object()), "Warmup: then: expected a number, a text, True, False, or a sequence"),
            (lambda: es.uniform(2, 1), "uniform: expected low to be at most high"),
            (lambda: es.loguniform(0, 1), "loguniform: low: expected a number greater than 0"),
            (lambda: es.integer(0.5, 2), "integer: low: expected a whole number"),
            (lambda: es.choice(), "choice: expected at least one value"),
            (lambda: es.parse("Expo(0.1, 2)"), "Expo: no such function, did you mean Exponential?"),
            (lambda: es.parse("Cosine(0.1, 0)"), "Cosine: period is missing"),
            (lambda: es.parse("Cosine(0.1, 0, 5, 1, 2)"), "Cosine: expected at most 4 arguments, got 5"),
            (lambda: es.parse("Cosine(0.1, init=2, period=3)"), "Cosine: init is given twice"),
            (lambda: es.parse("Cosine(0.1, minimum=0, period=3)"), "Cosine: has no argument minimum"),
            (lambda: es.parse("0.1 0.2"), 'column 5: expected the end, found "0"'),
            (lambda: es.parse("sgd"), 'column 1: expected a finite number, text in double quotes, true, false or a function'),
            (lambda: es.parse('"sgd'), "column 5: expected the text's closing quote, found the end"),
            (lambda: es.parse("1e999"), "column 1: expected a number that floating point can hold"),
            (lambda: es.parse("99999999999999999999"), "column 1: expected a whole number of at most 64 bits"),
            (lambda: es.parse("Scale(1, " * 70 + "1" + ")" * 70), "expected at most 64 nested functions"),
        ]:  # fmt: skip
            with self.subTest(expected):
                with self.assertRaises(es.InvalidArgument) as raised:
                    make()
                self.assertIn(expected, str(raised.exception))
        with self.assertRaises(TypeError):
            es.Cosine(0.1, 0)


if __name__ == "__main__":
    unittest.main()
