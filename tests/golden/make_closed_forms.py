"""Writes closed_forms.txt: values of sequences by the closed forms of docs/sequences.md, computed with 60 digits.

Needs mpmath. Each line: the expression, a step, the value, the range of the sequence (a tolerance is a part of it).
Run: python3 tests/golden/make_closed_forms.py > tests/golden/closed_forms.txt
"""

import mpmath
from mpmath import mpf

mpmath.mp.dps = 60


def linear(init, slope):
    return lambda x: init + slope * x


def linear_to(init, end, period):
    return lambda x: init + (end - init) * x / period if x < period else end


def exponential(init, gamma):
    return lambda x: init * gamma**x


def step(init, every, gamma):
    return lambda x: init * gamma ** (x // every)


def multi_step(init, milestones, gamma):
    return lambda x: init * gamma ** sum(1 for milestone in milestones if milestone <= x)


def polynomial(init, period, power, end=mpf(0)):
    return lambda x: end + (init - end) * (1 - mpf(x) / period) ** power if x < period else end


def cosine(init, min_y, period, gamma=1):
    def value(x):
        length = period
        while x >= length:
            x -= length
            length *= gamma
        return init - (init - min_y) * (1 - mpmath.cos(mpmath.pi * x / length)) / 2

    return value


def sinusoid(magnitude, period, phase=mpf(0), offset=mpf(0)):
    return lambda x: offset + magnitude * mpmath.cos(2 * mpmath.pi * (x % period) / period + phase)


def cyclic(init, max_y, period1, period2):
    up, down = linear_to(init, max_y, period1), linear_to(max_y, init, period2)

    def value(x):
        x %= period1 + period2
        return up(x) if x < period1 else down(x - period1)

    return value


def one_cycle(max_y, total_steps, pct_start=mpf(0.3), anneal="cos", div_factor=25, final_div_factor=10000, three=False):
    low = max_y / div_factor
    least = low / final_div_factor
    ends = [(pct_start * total_steps - 1, max_y)]
    if three:
        ends.append((2 * pct_start * total_steps - 2, low))
    ends.append((mpf(total_steps - 1), least))

    def value(x):
        start, first = mpf(0), low
        for end, last in ends:
            if x <= end or last is least:
                q = min((x - start) / (end - start), mpf(1))
                part = q if anneal == "linear" else (1 - mpmath.cos(mpmath.pi * q)) / 2
                return first + (last - first) * part
            start, first = end, last
        return least

    return value


def cooldown(init, min_y, period, shape="linear"):
    def value(x):
        if x >= period:
            return min_y
        u = mpf(x) / period
        cosine = (1 - mpmath.cos(mpmath.pi * u)) / 2
        share = {"linear": u, "cosine": cosine, "sqrt": mpmath.sqrt(u), "square": u * u, "mirror_cosine": 2 * u - cosine}
        return init - (init - min_y) * share[shape]

    return value


def wsd(max_y, total_steps, decay_steps, warmup_steps=0, start_y=mpf(0), min_y=mpf(0), shape="sqrt"):
    up = linear_to(start_y, max_y, warmup_steps)
    down = cooldown(max_y, min_y, decay_steps, shape)
    stable_end = total_steps - decay_steps
    return lambda x: up(x) if x < warmup_steps else max_y if x < stable_end else down(x - stable_end)


def inverse_sqrt(init, timescale=mpf(1)):
    return lambda x: init / mpmath.sqrt((x + timescale) / timescale)


def warmup(init, period, then):
    return lambda x: init + (then(0) - init) * x / period if x < period else then(x - period)


def piecewise(pieces, milestones):
    def value(x):
        index = sum(1 for milestone in milestones if milestone <= x)
        return pieces[index](x - ([0] + milestones)[index])

    return value


def table(values):
    return lambda x: values[min(x, len(values) - 1)]


def scale(factor, f):
    return lambda x: factor * f(x)


def every(k, f):
    return lambda x: f(x // k)


SHORT = list(range(0, 40)) + list(range(40, 400, 7))
LONG = [0, 1, 2, 999, 1000, 12345, 99_999, 100_000, 999_999, 1_000_000]
FAR = [0, 1, 2**20, 2**40 + 1, 2**52 - 1, 2**53 - 1]
TENTH, HUNDREDTH = mpf(0.1), mpf(0.01)

CASES = [
    ("Linear(0.1, -0.00037)", linear(TENTH, mpf(-0.00037)), 1, SHORT),
    ("Linear(0.1, 1e-09)", linear(TENTH, mpf(1e-9)), 1, LONG),
    ("LinearTo(0.01, 0.3, 77)", linear_to(HUNDREDTH, mpf(0.3), 77), 1, SHORT),
    ("LinearTo(0.3, 0.0, 1000000)", linear_to(mpf(0.3), mpf(0), 1_000_000), 1, LONG),
    ("Step(0.1, 30, 0.1)", step(TENTH, 30, TENTH), 1, SHORT),
    ("Step(0.1, 7, 0.97)", step(TENTH, 7, mpf(0.97)), 1, LONG),
    ("MultiStep(0.1, [40, 60, 200], 0.3)", multi_step(TENTH, [40, 60, 200], mpf(0.3)), 1, SHORT),
    ("Exponential(0.1, 0.95)", exponential(TENTH, mpf(0.95)), 1, SHORT),
    ("Exponential(0.1, 0.999999)", exponential(TENTH, mpf(0.999999)), 1, LONG),
    ("Exponential(1e-06, 1.00001)", exponential(mpf(1e-6), mpf(1.00001)), mpf(0.022), LONG),
    ("Polynomial(0.1, 100, 1)", polynomial(TENTH, 100, 1), 1, SHORT),
    ("Polynomial(0.1, 333, 2, 0.001)", polynomial(TENTH, 333, 2, mpf(0.001)), 1, SHORT),
    ("Polynomial(0.1, 333, 0.5)", polynomial(TENTH, 333, mpf(0.5)), 1, SHORT),
    ("Polynomial(0.1, 333, 0.9)", polynomial(TENTH, 333, mpf(0.9)), 1, SHORT),
    ("Polynomial(0.01, 333, 3.7, 0.2)", polynomial(HUNDREDTH, 333, mpf(3.7), mpf(0.2)), 1, SHORT),
    ("Polynomial(3.0, 1000000, 0.3333)", polynomial(mpf(3), 1_000_000, mpf(0.3333)), 1, LONG),
    ("Polynomial(3.0, 1000000, 123456.5)", polynomial(mpf(3), 1_000_000, mpf(123456.5)), 1, LONG),
    ("Polynomial(1.0, 9007199254740992, 0.7)", polynomial(mpf(1), 2**53, mpf(0.7)), 1, FAR),
    ("Polynomial(1.0, 9007199254740992, 1e+15)", polynomial(mpf(1), 2**53, mpf(1e15)), 1, FAR),
    ("Cosine(0.1, 0.003, 75)", cosine(TENTH, mpf(0.003), 75), 1, SHORT),
    ("Cosine(0.1, 0.0, 13, gamma=3)", cosine(TENTH, mpf(0), 13, 3), 1, SHORT),
    ("Cosine(0.1, 0.0, 1000001)", cosine(TENTH, mpf(0), 1_000_001), 1, LONG),
    ("Sinusoid(0.1, 50)", sinusoid(TENTH, 50), 1, SHORT),
    ("Sinusoid(0.1, 37, 1.2, 0.3)", sinusoid(TENTH, 37, mpf(1.2), mpf(0.3)), 1, SHORT),
    ("Sinusoid(2.0, 64, -100000.7)", sinusoid(mpf(2), 64, mpf(-100000.7)), 1, SHORT),
    ("Sinusoid(1.0, 1000003, 1e+15)", sinusoid(mpf(1), 1_000_003, mpf(1e15)), 1, LONG),
    ("CyclicLR(0.001, 0.1, 20, 13)", cyclic(mpf(0.001), TENTH, 20, 13), 1, SHORT),
    ("OneCycle(0.1, 100)", one_cycle(TENTH, 100), 1, SHORT),
    ("OneCycle(0.1, 355, anneal=\"linear\")", one_cycle(TENTH, 355, anneal="linear"), 1, SHORT),
    ("OneCycle(0.1, 333, 0.25, \"cos\", 10, 100)", one_cycle(TENTH, 333, mpf(0.25), "cos", 10, 100), 1, SHORT),
    ("OneCycle(0.1, 331, 0.37, three_phase=true)", one_cycle(TENTH, 331, mpf(0.37), three=True), 1, SHORT),
    ("OneCycle(0.1, 331, 0.37, \"linear\", three_phase=true)",
     one_cycle(TENTH, 331, mpf(0.37), "linear", three=True), 1, SHORT),
    ("OneCycle(0.1, 1000001)", one_cycle(TENTH, 1_000_001), 1, LONG),
    ("Cooldown(0.1, 0.003, 177)", cooldown(TENTH, mpf(0.003), 177), 1, SHORT),
    ("Cooldown(0.1, 0.003, 177, \"cosine\")", cooldown(TENTH, mpf(0.003), 177, "cosine"), 1, SHORT),
    ("Cooldown(0.1, 0.003, 177, \"sqrt\")", cooldown(TENTH, mpf(0.003), 177, "sqrt"), 1, SHORT),
    ("Cooldown(0.1, 0.003, 177, \"square\")", cooldown(TENTH, mpf(0.003), 177, "square"), 1, SHORT),
    ("Cooldown(0.1, 0.003, 177, \"mirror_cosine\")", cooldown(TENTH, mpf(0.003), 177, "mirror_cosine"), 1, SHORT),
    ("Cooldown(0.1, 0.0, 1000001, \"mirror_cosine\")", cooldown(TENTH, mpf(0), 1_000_001, "mirror_cosine"), 1, LONG),
    ("Cooldown(1.0, 0.0, 9007199254740992, \"sqrt\")", cooldown(mpf(1), mpf(0), 2**53, "sqrt"), 1, FAR),
    ("WSD(0.1, 300, 77, 20)", wsd(TENTH, 300, 77, 20), 1, SHORT),
    ("WSD(0.1, 300, 77, 20, 0.01, 0.001, \"mirror_cosine\")",
     wsd(TENTH, 300, 77, 20, HUNDREDTH, mpf(0.001), "mirror_cosine"), 1, SHORT),
    ("InverseSqrt(0.1)", inverse_sqrt(TENTH), 1, SHORT),
    ("InverseSqrt(0.1, 4000)", inverse_sqrt(TENTH, mpf(4000)), 1, LONG),
    ("Warmup(0.01, 5, Cosine(0.1, 0, 75))", warmup(HUNDREDTH, 5, cosine(TENTH, mpf(0), 75)), 1, SHORT),
    ("Warmup(0.0, 40, InverseSqrt(0.1, 40))", warmup(mpf(0), 40, inverse_sqrt(TENTH, mpf(40))), 1, SHORT),
    ("Piecewise([OneCycle(0.1, 60), Polynomial(0.05, 90, 1.5)], [45])",
     piecewise([one_cycle(TENTH, 60), polynomial(mpf(0.05), 90, mpf(1.5))], [45]), 1, SHORT),
    ("Table([0.1, 0.2, 0.15])", table([TENTH, mpf(0.2), mpf(0.15)]), 1, SHORT),
    ("Scale(0.25, Cosine(0.1, 0, 75))", scale(mpf(0.25), cosine(TENTH, mpf(0), 75)), 1, SHORT),
    ("Scale(3.3, Warmup(0.01, 9, Sinusoid(0.1, 30, 0.4)))",
     scale(mpf(3.3), warmup(HUNDREDTH, 9, sinusoid(TENTH, 30, mpf(0.4)))), 1, SHORT),
    ("Every(10, Exponential(0.1, 0.95))", every(10, exponential(TENTH, mpf(0.95))), 1, SHORT),
    ("Every(3, Scale(0.1, Sinusoid(1, 17)))", every(3, scale(TENTH, sinusoid(mpf(1), 17))), 1, SHORT),
]


def main():
    print("# Written by make_closed_forms.py. expression; step; value; range")
    for text, value, value_range, steps in CASES:
        for x in steps:
            exact = mpf(value(x))
            exact = exact if abs(exact) > mpf(10) ** -300 else mpf(0)
            print(text, x, mpmath.nstr(exact, 30), mpmath.nstr(mpf(value_range), 5), sep="; ")


if __name__ == "__main__":
    main()
