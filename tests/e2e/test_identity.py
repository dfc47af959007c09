"""Law 1 on a real service, for every trainer and optimizer: random trials end as if each had been trained alone, however their training
is cut, moved, killed and begun again. With an argument `builtin`, `pytorch`, `adapters` or `gpu`: those trainers; PyTorch and the frameworks
must be in the interpreter of the environment's ESPALIER_PYTORCH. `gpu` trains on two slots of the first GPU, and is not run (77) without one. ESPALIER_ROUNDS says how many studies of each."""

import dataclasses
import os
import pathlib
import shlex
import subprocess
import sys
import unittest

from disturbing import drain, draw_from_seed, evict, kill, run_disturbed
from service import BIN, Service, ServiceWithServer, results

ROOT = pathlib.Path(__file__).resolve().parents[2]
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
    data: str = "digits"  # of what is built in


TEXTS, SCRIPTED = "texts", "scripted"  # data, and a trainer, that `espalier up` is given besides

SUBJECTS = {
    "builtin": [
        Subject("mlp", "test_acc", {"optimizer": ["sgd", "adam", "adamw", "rmsprop"], "dropout": [0, 0.2]}, 200),
        Subject("resnet", "test_acc", {"optimizer": ["sgd", "adam", "adamw", "rmsprop"], "depth": [8]}, 20),
        Subject("mobilenet_v2", "test_acc", {"optimizer": ["sgd", "adamw"], "width": [0.25], "dropout": [0.2]}, 2),
        Subject("transformer", "test_loss", {"optimizer": ["sgd", "adam"], "layers": [1], "width": [16], "heads": [2], "length": [16, 24]}, 10, data=TEXTS),
        Subject(SCRIPTED, "test_acc", {"optimizer": ["sgd", "adam"], "loss": ["cross_entropy", "multi_margin"]}, 50),
    ],
    "pytorch": [
        Subject("Small", "loss", {"optimizer": PYTORCH_OPTIMIZERS, "workers": [0, 1, 2], "prefetch": [1, 2, 7], "frozen_norm": ["true", "false"]}, 10,
                "tests/python/trainers/small.py:Small"),
        Subject("flat", "loss", {"workers": [0, 2]}, 10, "tests/python/trainers/flat.py:main"),
    ],
    "adapters": [
        Subject("Digits", "val_acc", {"width": [16, 32]}, 10, "examples/lightning/train.py:Digits", "batch_size"),
        Subject("texts", "eval_accuracy", {"workers": [0, 2]}, 10, "tests/python/adapters/trainers/texts.py:texts", "per_device_train_batch_size",
                "learning_rate"),
        Subject("accelerated", "loss", {"workers": [0, 2], "accumulate": [1, 2]}, 10, "tests/python/adapters/trainers/accelerated.py:main"),
    ],
    "gpu": [
        Subject("OnCuda", "loss", {"optimizer": PYTORCH_OPTIMIZERS, "workers": [0, 2], "frozen_norm": ["true", "false"]}, 10,
                "tests/python/trainers/on_cuda.py:OnCuda"),
    ],
}  # fmt: skip


def study(name, subject, share, draw):
    """Six trials over schedules that begin alike."""
    values = {each: draw.choice(given) for each, given in subject.choices.items()}
    early, late = sorted(draw.sample(range(1, STEPS), 2))
    values[subject.rate] = f'[0.01, "MultiStep(0.01, [{early}], gamma=0.5)", "MultiStep(0.01, [{early}, {late}], gamma=0.5)"]'
    values[subject.size] = f'[4, "MultiStep(4, [{draw.randrange(1, STEPS)}], gamma=2)"]'
    lines = "".join(f"  {each}: {value}\n" for each, value in values.items())
    data = "" if subject.file else f"data: {subject.data}\n"
    return f"""
study: {name}
trainer: {subject.trainer}
{data}step: {draw.randint(subject.updates // 2, subject.updates)} updates
hyper_parameters:
{lines}metric: {{name: {subject.metric}, goal: max}}
tuner: {{grid: {{steps: {STEPS}}}}}
share: {share}
"""


# A module from Python, for the built-in trainers' program.
MAKE_SCRIPTED = """
import sys, torch
network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 16), torch.nn.BatchNorm1d(16), torch.nn.Dropout(0.1), torch.nn.Linear(16, 10))
torch.jit.script(network).save(sys.argv[1])
"""


def with_texts_and_a_module():
    """A service of built-in trainers, one on a text of this repository, and one that comes from Python where there is PyTorch."""
    service = Service()
    texts = service.root / TEXTS
    texts.mkdir()
    for name, page in [("train", "sequences.md"), ("test", "glossary.md")]:
        (texts / f"{name}.txt").write_bytes((ROOT / "docs" / page).read_bytes()[:4000])
    SUBJECTS["builtin"] = [dataclasses.replace(each, data=str(texts)) if each.data == TEXTS else each for each in SUBJECTS["builtin"]]
    programs = [["--trainer", "transformer", "--data", str(texts)]]
    module = service.root / f"{SCRIPTED}.pt"
    if subprocess.run([ROOT / "tests" / "with_pytorch.sh", "-c", MAKE_SCRIPTED, module], check=False).returncode == 0:
        programs.append(["--trainer", str(module), "--data", "digits"])
    else:
        SUBJECTS["builtin"] = [each for each in SUBJECTS["builtin"] if each.trainer != SCRIPTED]
    service.up_options = [word for program in programs for word in ("--worker", shlex.join([str(BIN / "espalier-worker"), *program]))]
    return service


def on_two_slots_of_a_gpu(trainers):
    """A service whose second server alone has the trainers."""
    lines = ['devices { gpus: "0" slots: 2 }']
    for number, each in enumerate(trainers):
        words = "".join(f' command: "{word}"' for word in (python, "-m", "espalier.worker", f"{ROOT}/{each.file}"))
        lines.append(f'runtimes {{ name: "trainer-{number}"{words} }}')
    return ServiceWithServer("gpu", "\n".join(lines), worker=os.path.basename(os.path.realpath(python)), slots=1)


class IdentityTest(unittest.TestCase):
    trainers = "builtin"

    def service(self):
        if self.trainers == "gpu":
            return on_two_slots_of_a_gpu(SUBJECTS["gpu"])
        options = [option for each in SUBJECTS[self.trainers] if each.file
                   for option in ("--trainer", f"{ROOT}/{each.file}")]  # fmt: skip
        if not options:
            return with_texts_and_a_module()
        return Service(up_options=[*options, "--python", python], worker=os.path.basename(os.path.realpath(python)))

    def test_random_trials_end_as_if_each_had_been_trained_alone_whatever_happens_to_their_training(self):
        draw = draw_from_seed()
        with self.service() as service:
            for subject in SUBJECTS[self.trainers]:
                for number in range(ROUNDS):
                    with self.subTest(trainer=subject.trainer, number=number):
                        # Nobody starts the second server's node manager again.
                        disturbances = [each for each in DISTURBANCES if self.trainers != "gpu" or each[0] in ("kill worker", "evict")]
                        self.assertEqual(*trained_both_ways(service, subject, number, draw, disturbances))


def trained_both_ways(service, subject, number, draw, disturbances):
    """The results of a random study when its trials share and are disturbed, and when each is trained alone."""
    state = draw.getstate()
    alone, shared = f"{subject.trainer}-{number}-alone", f"{subject.trainer}-{number}-shared"
    service.run("study", "run", service.write(f"{alone}.yaml", study(alone, subject, "nobody", draw)))
    draw.setstate(state)
    text = study(shared, subject, "study", draw)
    print(text)
    run_disturbed(service, shared, text, draw.choices(disturbances, k=2), draw, most_steps=10)
    return results(service, shared), results(service, alone)


if __name__ == "__main__":
    IdentityTest.trainers = sys.argv.pop(1)
    if IdentityTest.trainers != "builtin":
        from test_python_trainer import PYTHON as python

        os.environ["PYTHONPATH"] += f":{ROOT}/tests/python/trainers"  # of which the adapters' trainers take parts
    if IdentityTest.trainers == "gpu" and subprocess.run([python, "-c", "import sys, torch; sys.exit(not torch.cuda.is_available())"], check=False).returncode:
        print("not run: there is no GPU that PyTorch can use", file=sys.stderr)
        sys.exit(77)
    unittest.main()
