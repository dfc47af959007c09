"""Law 1 on a real service, for every trainer and optimizer: random trials end as if each had been trained alone, however their training
is cut, moved, killed and begun again. With an argument `builtin`, `pytorch` or `adapters`: those trainers; PyTorch and the frameworks
must be in the interpreter of the environment's ESPALIER_PYTORCH. ESPALIER_ROUNDS says how many studies of each."""

import dataclasses
import os
import sys
import unittest

from disturbing import drain, draw_from_seed, evict, kill, run_disturbed
from service import Service, results

ROUNDS = int(os.environ.get("ESPALIER_ROUNDS", "1"))
STEPS = 16
DISTURBANCES = [("kill worker", kill("worker")), ("kill node", kill("node")), ("drain", drain), ("evict", evict)]
PYTORCH_OPTIMIZERS = ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop", "Adafactor"]



@dataclasses.dataclass
class Subject:
    """A trainer, and what of it is random: `choices` are drawn once a study; `size` and `rate`, the names of batch size and learning
    rate, change within trials; a step has up to `updates`."""

    trainer: str
    metric: str
    choices: dict
    updates: int
    file: str = ""  # FILE.py:NAME; none: built in
    size: str = "bs"
    rate: str = "lr"


SUBJECTS = {
    "builtin": [
        Subject("mlp", "test_acc", {"optimizer": ["sgd", "adam", "adamw", "rmsprop"], "dropout": [0, 0.2]}, 200),
        Subject("resnet", "test_acc", {"optimizer": ["sgd", "adam", "adamw", "rmsprop"], "depth": [8]}, 20),
    ],
    "pytorch": [
        Subject("Small", "loss", {"optimizer": PYTORCH_OPTIMIZERS, "workers": [0, 1, 2], "frozen_norm": ["true", "false"]}, 10,
                "tests/python/trainers/small.py:Small"),
        Subject("flat", "loss", {"workers": [0, 2]}, 10, "tests/python/trainers/flat.py:main"),
    ],
    "adapters": [
        Subject("Digits", "val_acc", {"width": [16, 32]}, 10, "examples/lightning/train.py:Digits", "batch_size"),
        Subject("texts", "eval_accuracy", {"workers": [0, 2]}, 10, "tests/python/adapters/trainers/texts.py:texts", "per_device_train_batch_size",
                "learning_rate"),
        Subject("accelerated", "loss", {"workers": [0, 2], "accumulate": [1, 2]}, 10, "tests/python/adapters/trainers/accelerated.py:main"),
    ],
}  # fmt: skip


def study(name, subject, share, draw):
    """Six trials over schedules that begin alike."""
    values = {each: draw.choice(given) for each, given in subject.choices.items()}
    early, late = sorted(draw.sample(range(1, STEPS), 2))
    values[subject.rate] = f'[0.01, "MultiStep(0.01, [{early}], gamma=0.5)", "MultiStep(0.01, [{early}, {late}], gamma=0.5)"]'
    values[subject.size] = f'[4, "MultiStep(4, [{draw.randrange(1, STEPS)}], gamma=2)"]'
    lines = "".join(f"  {each}: {value}\n" for each, value in values.items())
    data = "" if subject.file else "data: digits\n"
    return f"""
study: {name}
trainer: {subject.trainer}
{data}step: {draw.randint(subject.updates // 2, subject.updates)} updates
hyper_parameters:
{lines}metric: {{name: {subject.metric}, goal: max}}
tuner: {{grid: {{steps: {STEPS}}}}}
share: {share}
"""


class IdentityTest(unittest.TestCase):
    trainers = "builtin"

    def service(self):
        options = [option for each in SUBJECTS[self.trainers] if each.file
                   for option in ("--trainer", f"{ROOT}/{each.file}")]  # fmt: skip
        if not options:
            return Service()
        return Service(up_options=[*options, "--python", python], worker=os.path.basename(os.path.realpath(python)))

    def test_random_trials_end_as_if_each_had_been_trained_alone_whatever_happens_to_their_training(self):
        draw = draw_from_seed()
        with self.service() as service:
            for subject in SUBJECTS[self.trainers]:
                for number in range(ROUNDS):
                    with self.subTest(trainer=subject.trainer, number=number):
                        self.check(service, subject, number, draw)

    def check(self, service, subject, number, draw):
        state = draw.getstate()
        alone, shared = f"{subject.trainer}-{number}-alone", f"{subject.trainer}-{number}-shared"
        service.run("study", "run", service.write(f"{alone}.yaml", study(alone, subject, "nobody", draw)))
        draw.setstate(state)
        text = study(shared, subject, "study", draw)
        run_disturbed(service, shared, text, draw.choices(DISTURBANCES, k=2), draw, most_steps=10)
        self.assertEqual(results(service, shared), results(service, alone), text)


if __name__ == "__main__":
    IdentityTest.trainers = sys.argv.pop(1)
    if IdentityTest.trainers != "builtin":
        from test_python_trainer import PYTHON as python
        from test_python_trainer import ROOT

        os.environ["PYTHONPATH"] += f":{ROOT}/tests/python/trainers"  # of which the adapters' trainers take parts
    unittest.main()
