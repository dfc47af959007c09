"""The order in which the built-in trainers take their samples, written a second time: worker/trainer/data/sample_order.h."""

BITS = 2**64 - 1


class Scatter:
    """SplitMix64: https://prng.di.unimi.it/splitmix64.c"""

    def __init__(self, state):
        self.state = state

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & BITS
        bits = self.state
        bits = ((bits ^ bits >> 30) * 0xBF58476D1CE4E5B9) & BITS
        bits = ((bits ^ bits >> 27) * 0x94D049BB133111EB) & BITS
        return bits ^ bits >> 31

    def next_below(self, bound):
        rest = 2**64 % bound
        bits = self.next()
        while bits < rest:
            bits = self.next()
        return bits % bound


def shuffled(count, seed, epoch):
    """A permutation of range(count)."""
    order = list(range(count))
    draws = Scatter(Scatter((Scatter(seed).next() + epoch) & BITS).next())
    for left in range(count, 1, -1):
        other = draws.next_below(left)
        order[left - 1], order[other] = order[other], order[left - 1]
    return order


def batches(count, seed, sizes):
    """For each size the samples of the next batch. None spans an epoch's end."""
    epoch, position, order = 0, 0, shuffled(count, seed, 0)
    for size in sizes:
        batch = order[position : position + size]
        yield batch
        position += len(batch)
        if position == count:
            epoch, position, order = epoch + 1, 0, shuffled(count, seed, epoch + 1)


PAGE = 512


def windows(text, seed, sizes):
    """worker/trainer/data/text_order.h: for each (batch size, length) the windows of the next batch, length + 1 tokens each."""

    def ordered(epoch):
        pages = shuffled(len(text) // PAGE, seed, epoch)
        return b"".join(text[PAGE * page : PAGE * (page + 1)] for page in pages) + text[PAGE * len(pages) :]

    epoch, position, tokens = 0, 0, ordered(0)
    for size, length in sizes:
        if position + length >= len(text):
            epoch, position, tokens = epoch + 1, 0, ordered(epoch + 1)
        count = min(size, (len(text) - 1 - position) // length)
        yield [list(tokens[at : at + length + 1]) for at in range(position, position + count * length, length)]
        position += count * length
