"""Tables and texts are read, ordered and trained on as by plain PyTorch. The texts are this repository's own."""

import pathlib
import tempfile
import unittest

import data_sets
import networks
from side_by_side import losses

UPDATES = 20


def content(pattern):
    return b"".join(path.read_bytes() for path in sorted(data_sets.ROOT.glob(pattern)))


class Folder:
    """Of data, written for a test."""

    def __init__(self, files):
        self._folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self._folder.name)
        for name, bytes_ in files.items():
            (self.path / name).parent.mkdir(exist_ok=True)
            (self.path / name).write_bytes(bytes_)

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        self._folder.cleanup()


def text_schedule(update):
    return {
        "optimizer": "adamw", "bs": 16 if update < 12 else 24, "length": 48 if update < 7 else 65, "dropout": 0.0,
        "lr": 0.001 if update < 10 else 0.0005, "weight_decay": 0.01,
    }  # fmt: skip


class Readers(unittest.TestCase):
    def compare(self, here, there):
        self.assertLess(here[-1], here[0])
        for mine, reference in zip(here, there, strict=True):
            self.assertAlmostEqual(mine / reference, 1, delta=1e-4)

    def test_a_table(self):
        rows = (data_sets.ROOT / "worker/trainer/data/digits.csv").read_bytes()
        # Columns that never vary have no deviation.
        kept = [1, 2, 3, 4, 5, 10, 11, 12, 13, 18, 19, 20, 21, 26, 27, 28, 29, 34, 35, 36, 37, 64]
        text = "\n".join(",".join(line.split(",")[column] for column in kept) for line in rows.decode().splitlines())
        with Folder({"train.csv": text.encode(), "test.csv": text.encode()}) as folder:
            network = networks.Mlp(len(kept) - 1, 10)
            self.compare(*losses("mlp", folder, network, data_sets.table(text), lambda _: {"bs": 32, "lr": 0.05}, UPDATES))

    def test_each_next_byte_of_a_text(self):
        text = content("docs/*.md")[:15_000]  # an epoch ends on the way
        with Folder({"train.txt": text, "test.txt": text}) as folder:
            network = networks.Transformer(256, 256, labels_places=True)
            self.compare(*losses("transformer", folder, network, data_sets.text(text), text_schedule, UPDATES))

    def test_the_class_of_a_line(self):
        texts = {"code": content("base/*.cc"), "prose": content("docs/*.md")}
        files = {f"{part}/{name}.txt": text for part in ("train", "test") for name, text in texts.items()}
        with Folder(files) as folder:
            network = networks.Transformer(258, 2, labels_places=False)
            self.compare(*losses("transformer", folder, network, data_sets.labeled_lines(texts), text_schedule, UPDATES))


if __name__ == "__main__":
    unittest.main()
