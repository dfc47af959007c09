"""What a worker that is killed has written for itself alone lies in the folder that was named for it (espalier/temporary.py), and nowhere else."""

from cuts import CutsTest, Trial, begin

LONG = "a-folder-with-a-path-that-no-socket-can-have/" * 3


def names_in(folder):
    """But for a cache of PyTorch's, which all processes use, and later ones."""
    return [each.name for each in folder.iterdir() if not each.name.startswith("torchinductor")]


class TemporaryTest(CutsTest):
    def setUp(self):
        super().setUp()
        self.usual = self.folder / "usual"
        self.usual.mkdir()

    def killed_in_mid_epoch(self, own, *, is_copy=False):
        """Of a worker whose loader has processes: (what is in its own folder, what is where all others have theirs)."""
        own.mkdir(parents=True)
        environment = {"ESPALIER_TEMPORARY": str(own), "TMPDIR": str(self.usual)}
        worker = self.worker("small.py:Small", environment, is_copy=is_copy)
        begin(worker, Trial({"workers": 2}))
        worker.train()
        worker.process.kill()
        worker.process.wait()
        return [[name[:5] for name in names_in(folder)] for folder in (own, self.usual)]

    def test_sockets_of_its_loaders_lie_there(self):
        for is_copy in (False, True):
            with self.subTest(is_copy=is_copy):
                self.assertEqual(self.killed_in_mid_epoch(self.folder / f"own-{is_copy}", is_copy=is_copy), [["pymp-"], []])

    def test_a_path_that_is_too_long_for_sockets_is_none_for_them(self):
        self.assertEqual(self.killed_in_mid_epoch(self.folder / LONG), [[], ["pymp-"] * 2])

    def test_nothing_stays_of_one_that_ends(self):
        own = self.folder / "own"
        own.mkdir()
        worker = self.worker("small.py:Small", {"ESPALIER_TEMPORARY": str(own), "TMPDIR": str(self.usual)})
        begin(worker, Trial({"workers": 2}))
        worker.train()
        self.assertEqual(worker.stop(), 0)
        self.assertEqual([*names_in(own), *names_in(self.usual)], [])
