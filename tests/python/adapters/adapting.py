"""Trainers of adapters, led as a node manager does, and cut."""

import dataclasses
import itertools
import os
import pathlib
import random
import tempfile

import distributions
from cuts import CutsTest, Trial, begin, begin_sooner, go_on
from fake_node_manager import PACKAGE, Failed, Worker

HERE = pathlib.Path(__file__).resolve().parent
TRAINERS = HERE / "trainers"
ENVIRONMENT = {"PYTHONPATH": os.pathsep.join(map(str, [PACKAGE, HERE.parent / "trainers"]))}


class AdaptersTest(CutsTest):
    """Frameworks take seconds to import: two processes of each trainer are kept for all tests of a class. They take turns, so that
    each forgets what it trained before."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.logs = pathlib.Path(folder.name)
        cls.kept = {}

    @classmethod
    def pair(cls, trainer):
        if trainer not in cls.kept:
            cls.kept[trainer] = [Worker(TRAINERS / trainer, cls.logs / f"{trainer}-{each}", ENVIRONMENT) for each in range(2)]
            for each in cls.kept[trainer]:
                cls.addClassCleanup(each.__exit__)
        return cls.kept[trainer]

    def check(self, trainer, trial, pieces=(1, 3, 4)):
        """That pieces are the straight training, with and without evaluations and saves between. Returns that."""
        straight, disturbed = self.straight_and_cut(trainer, trial, pieces)
        self.assertEqual(disturbed, straight)
        undisturbed = self.cut(itertools.cycle(reversed(self.pair(trainer))), trial, pieces, is_disturbed=False)
        self.assertEqual(undisturbed, straight)
        return straight

    def check_sooner(self, trainer, trial):
        """That processes that have trained need no init, and no load where they stand."""
        one, other = self.pair(trainer)
        straight = self.straight(one, trial)
        self.straight(other, trial)  # which stands at the end
        self.assertEqual(self.cut([one, other, other, one], trial, (1, 2, 4), bring=begin_sooner), straight)

    def check_random(self, trainer, initial, sequences):
        """As `check`, of ESPALIER_TRIALS random trials with random cuts. `initial`, `sequences`: name -> values to choose from."""
        seed = int(os.environ.get("ESPALIER_SEED", random.randrange(2**32)))
        print(f"ESPALIER_SEED={seed}")
        draw = random.Random(seed)
        for number in range(int(os.environ.get("ESPALIER_TRIALS", 1))):
            steps = draw.randint(2, 6)
            changes = {step: {name: draw.choice(values) for name, values in sequences.items() if draw.random() < 0.5} for step in range(1, steps)}
            trial = Trial({name: draw.choice(values) for name, values in {**initial, **sequences}.items()},
                          {step: values for step, values in changes.items() if values and draw.random() < 0.6},
                          updates=draw.choice([1, 2, 5, None]), steps=steps)  # fmt: skip
            with self.subTest(ESPALIER_SEED=seed, number=number, trial=trial):
                self.check(trainer, trial, sorted(draw.sample(range(1, steps), draw.randint(1, steps - 1))))

    def check_that_nothing_can_be_forgotten(self, trainer, trial, parts):
        for part in parts:
            with self.subTest(part):
                forgetful = dataclasses.replace(trial, values={**trial.values, "forget": part})
                try:
                    straight, pieces = self.straight_and_cut(trainer, forgetful, (1, 3, 4))
                except AssertionError:  # one evaluation changed the next
                    continue
                self.assertNotEqual(pieces, straight)

    def straight_and_cut(self, trainer, trial, pieces):
        pair = self.pair(trainer)
        straight = self.straight(pair[0], trial)
        return straight, self.cut(itertools.cycle(reversed(pair)), trial, pieces)

    def fails_with(self, trainer, trial, message):
        """When it is begun, trained for a step, and evaluated, on a worker that is kept."""
        worker = self.pair(trainer)[0]
        with self.assertRaisesRegex(Exception, message):
            begin(worker, trial)
            go_on(worker, trial, 1)
            worker.evaluate()

    def refuses_late_imports(self, trainer):
        """Of a package that nothing at the top of a file imports. Its `mistake` is "late import"."""
        site = self.folder / "site"
        distributions.make(site, "lazy_hidden")
        worker = self.worker(TRAINERS / trainer, distributions.environment(site, HERE.parent / "trainers"))
        begin(worker, Trial({"mistake": "late import"}))
        with self.assertRaisesRegex(Failed, "has imported lazy_hidden, .*ignore_packages"):
            worker.train()

    def said(self, trainer):
        return self.pair(trainer)[0].log.read_text()
