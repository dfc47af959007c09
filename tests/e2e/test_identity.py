"""Law 1 on a real service, for every trainer and optimizer: random trials end as if each had been trained alone, however their training
is cut, moved, killed and begun again. With an argument `builtin`, `programs`, `pytorch`, `adapters` or `gpu`: those trainers; PyTorch and the frameworks
must be in the interpreter of the environment's ESPALIER_PYTORCH. `gpu` trains on two slots of the first GPU, and is not run (77) without one. ESPALIER_ROUNDS says how many studies of each."""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from disturbing import drain, draw_from_seed, draw_prefetch, evict, fetch_otherwise, kill, run_disturbed
from service import BIN, Service, ServiceWithServer, results

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROUNDS = int(os.environ.get("ESPALIER_ROUNDS", "1"))
STEPS = 16
DISTURBANCES = [("kill worker", kill("worker")), ("kill node", kill("node")), ("drain", drain), ("evict", evict)]
CHANGED_IMAGES = {"crop": [0, 1], "flip": ["true", "false"], "cutout": [0, '"MultiStep(1, [7], gamma=2)"']}
PYTORCH_OPTIMIZERS = ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop", "Adafactor"]


@dataclasses.dataclass
class Subject:
    """A trainer, and what of it is random: `choices` are drawn once a study; `size` and `rate`, the names of batch size and learning
    rate, change within trials; a step has up to `updates`."""

    trainer: str
    metric: str
    choices: dict
    updates: int
    file: str = ""  # FILE.py:NAME, which `espalier up` is told; none: the study says it all
    size: str = "bs"
    rate: str = "lr"
    first_rate: str = "0.01"
    data: str = ""
    worker: str = ""  # what its processes are called; empty: as the service's are


TEXTS, MODULE, SCRIPT, GO = "texts", "scripted.pt", "line.py", "go-worker"  # data and trainers that lie beside the study files

SUBJECTS = {
    "builtin": [
        Subject("mlp", "test_acc", {"optimizer": ["sgd", "adam", "adamw", "rmsprop"], "dropout": [0, 0.2], **CHANGED_IMAGES}, 200, data="digits"),
        Subject("resnet", "test_acc", {"optimizer": ["sgd", "adam", "adamw", "rmsprop"], "depth": [8], **CHANGED_IMAGES}, 20, data="digits"),
        Subject("mobilenet_v2", "test_acc", {"optimizer": ["sgd", "adamw"], "width": [0.25], "dropout": [0.2]}, 2, data="digits"),
        Subject("transformer", "test_loss", {"optimizer": ["sgd", "adam"], "layers": [1], "width": [16], "heads": [2],
                                             "length": [16, '"MultiStep(12, [5], gamma=2)"'], "mix": [0, 0.3]}, 10, data=TEXTS),
        Subject(f"torchscript:{MODULE}", "test_acc", {"optimizer": ["sgd", "adam"], "loss": ["cross_entropy", "multi_margin"]}, 50, data="digits"),
    ],
    # Go's rates are so small that no step makes the training forget where it came from.
    "programs": [
        Subject(f"script:{SCRIPT}", "mse", {"momentum": [0, 0.9]}, 10, worker="espalier-script"),
        Subject(f"command:./{GO}", "mse", {"momentum": [0, 0.9]}, 2000, first_rate="0.000001", worker=GO),
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
    first = subject.first_rate
    values[subject.rate] = f'[{first}, "MultiStep({first}, [{early}], gamma=0.5)", "MultiStep({first}, [{early}, {late}], gamma=0.5)"]'
    values[subject.size] = f'[4, "MultiStep(4, [{draw.randrange(1, STEPS)}], gamma=2)"]'
    lines = "".join(f"  {each}: {value}\n" for each, value in values.items())
    data = f"data: {subject.data}\n" if subject.data else ""
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
    """A service, with texts of this repository beside it, and a module from Python where there is PyTorch."""
    service = Service()
    texts = service.root / TEXTS
    texts.mkdir()
    for name, page in [("train", "sequences.md"), ("second", "trainers.md"), ("test", "glossary.md")]:
        (texts / f"{name}.txt").write_bytes((ROOT / "docs" / page).read_bytes()[:4000])
    if subprocess.run([ROOT / "tests" / "with_pytorch.sh", "-c", MAKE_SCRIPTED, service.root / MODULE], check=False).returncode != 0:
        SUBJECTS["builtin"] = [each for each in SUBJECTS["builtin"] if MODULE not in each.trainer]
    return service


def with_programs():
    """A service, with examples/script and the worker of examples/go beside it."""
    import test_go_worker

    service = Service()
    shutil.copy(ROOT / "examples" / "script" / "line.py", service.root / SCRIPT)
    test_go_worker.go("go", "build", "-o", str(service.root / GO), ".")
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
            return with_programs() if self.trainers == "programs" else with_texts_and_a_module()
        return Service(up_options=[*options, "--python", python], worker=os.path.basename(os.path.realpath(python)))

    def test_random_trials_end_as_if_each_had_been_trained_alone_whatever_happens_to_their_training(self):
        draw = draw_from_seed()
        service = self.service()
        if self.trainers == "builtin":
            draw_prefetch(service, draw)
        with service:
            for subject in SUBJECTS[self.trainers]:
                for number in range(ROUNDS):
                    with self.subTest(trainer=subject.trainer, number=number):
                        self.assertEqual(*trained_both_ways(service, subject, number, draw, self.trainers))


def drawn_disturbances(trainers, draw):
    """Two, and for trainers that fetch ahead one more."""
    # Nobody starts the second server's node manager again.
    possible = [each for each in DISTURBANCES if trainers != "gpu" or each[0] in ("kill worker", "evict")]
    drawn = draw.choices(possible, k=2)
    if trainers == "builtin":
        drawn.insert(draw.randrange(3), ("fetch otherwise", fetch_otherwise))
    return drawn


def trained_both_ways(service, subject, number, draw, trainers):
    """The results of a random study when its trials share and are disturbed, and when each is trained alone."""
    state = draw.getstate()
    name = re.sub(r"\W+", "-", subject.trainer)
    alone, shared = f"{name}-{number}-alone", f"{name}-{number}-shared"
    service.programs["worker"] = subject.worker or service.programs["worker"]
    service.run("study", "run", service.write(f"{alone}.yaml", study(alone, subject, "nobody", draw)))
    draw.setstate(state)
    text = study(shared, subject, "study", draw)
    print(text)
    run_disturbed(service, shared, text, drawn_disturbances(trainers, draw), draw, most_steps=10)
    return results(service, shared), results(service, alone)


if __name__ == "__main__":
    IdentityTest.trainers = sys.argv.pop(1)
    if IdentityTest.trainers not in ("builtin", "programs"):
        from test_python_trainer import PYTHON as python

        os.environ["PYTHONPATH"] += f":{ROOT}/tests/python/trainers"  # of which the adapters' trainers take parts
    if IdentityTest.trainers == "gpu" and subprocess.run([python, "-c", "import sys, torch; sys.exit(not torch.cuda.is_available())"], check=False).returncode:
        print("not run: there is no GPU that PyTorch can use", file=sys.stderr)
        sys.exit(77)
    unittest.main()
