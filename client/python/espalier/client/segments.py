"""How many pieces a sequence has at most: what a batch is measured by, so that none is too large for a master. A bound, not the number: the
service alone computes sequences."""

from espalier.sequences import families as of
from espalier.sequences.arguments import Open


def segments_at_most(expression, horizon: int) -> int:
    """Of an expression without ranges, up to step `horizon`; at least 1, at most `horizon`."""
    return max(1, min(horizon, _bound(expression, horizon)))


def _bound(expression, horizon):
    match expression:
        case of.Step(every=every) | of.Every(k=every):
            return _rounds(horizon, every)
        case of.Cosine(period=period) | of.Sinusoid(period=period):
            return _rounds(horizon, period)
        case of.CyclicLR(period1=period1, period2=period2):
            return 2 * _rounds(horizon, period1 + period2)
        case of.MultiStep(milestones=milestones):
            return len(milestones) + 1
        case of.Table(values=values):
            return len(values)
        case of.Piecewise(pieces=pieces):
            return sum(segments_at_most(piece, horizon) for piece in pieces)
        case of.Warmup(then=then):
            return 1 + segments_at_most(then, horizon)
        case of.Scale(f=f):
            return segments_at_most(f, horizon)
        case of.WSD() | of.OneCycle():
            return 5
        case of.LinearTo() | of.Polynomial() | of.Cooldown() | of.OneCyclePhase():
            return 2
    return 1


def _rounds(horizon, length):
    return 1 if isinstance(length, Open) else -(-horizon // length)
