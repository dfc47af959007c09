"""docs/errors.md is the table: each mistake that it names, made by the C++ client, the Python client and the command line, is answered as it
stands there. What differs from one run to the next is named in capitals."""

import pathlib
import re
import subprocess
import unittest

import espalier as es
from fake_master import FakeMaster
from service import BIN, Service, wait_until

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "errors.md"
SECTION = re.compile(r"^## (?P<mistake>.+)\n(?:.*\n)*?```\n(?P<answers>(?:.+\n)+)```$", re.MULTILINE)
CLIENTS = ("C++", "Python", "command line")
NOBODY = "espalier_" + "0" * 64
HASTY = es.RetryPolicy(first_connection_patience=0.2)
LONG = 1_000_000  # steps: nobody waits for their end


def table():
    """{mistake: {client: answer}} as the page has it."""
    mistakes = {}
    for section in SECTION.finditer(PAGE.read_text()):
        lines = [re.split(r"  +", line, maxsplit=1) for line in section["answers"].splitlines()]
        mistakes[section["mistake"]] = dict(lines)
    return mistakes


def last_words(said):
    """Without what was said before it failed."""
    return re.sub(r"(?s)^(exit code \d+: ).*(?=espalier: )", r"\1", said)


class Wrong:
    """How each mistake is made, by its heading, in each client; gives back the answers."""

    def __init__(self, service):
        self.service = service
        self.client = es.connect(data=service.data)
        self.address = self.client.connection.address

    def cpp(self, mistake, *token, address=None):
        done = subprocess.run([BIN / "espalier-wrong-use", address or self.address, mistake, *token], capture_output=True, text=True,
                              timeout=300, check=True)  # fmt: skip
        return done.stdout

    def python(self, make):
        try:
            return f"nothing is wrong: {make()}"
        except Exception as error:  # whatever a user would see
            return f"{type(error).__name__}: {error}"

    def line(self, *arguments, **environment):
        done = subprocess.run([str(BIN / "espalier"), *map(str, arguments)], env={**self.service.environment(), **environment},
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)  # fmt: skip
        return f"exit code {done.returncode}: {done.stderr}"

    def file(self, lr="lr: [0.1]", trainer="mlp", steps=3):
        return self.service.write("study.yaml", f"""study: wrong
trainer: {trainer}
data: digits
step: 20 updates
hyper_parameters:
  {lr}
metric: {{name: test_acc, goal: max}}
tuner: {{grid: {{steps: {steps}}}}}
""")

    def study(self, client=None, **more):
        return (client or self.client).study("wrong in Python", **{"trainer": "mlp", "data": "digits", "step": "20 updates",
                                                                    "metric": "test_acc", "goal": "max", "steps": 3, **more})  # fmt: skip

    def alone(self, make):
        """The answer to Python, whose study is gone then."""
        study = self.study()
        answer = self.python(lambda: make(study))
        study.create().cancel()
        return answer

    def sequence(self):
        bad = "MultiStep(0.1, [60, 40], 0.1)"
        return self.cpp("sequence"), self.alone(lambda study: study.submit({"lr": bad})), self.line("study", "run", self.file(f'lr: ["{bad}"]'))

    def hyper_parameter(self):
        return (self.cpp("hyper-parameter"), self.alone(lambda study: study.submit({"lrr": 0.1})),
                self.line("study", "run", self.file("lrr: [0.1]")))  # fmt: skip

    def trainer(self):
        return (self.cpp("trainer"), self.python(lambda: self.study(trainer="mlpp").create()),
                self.line("study", "run", self.file(trainer="mlpp")))  # fmt: skip

    def no_code(self):
        nowhere = f"library:{self.service.root}/nowhere.so"
        return (self.cpp("own trainer", nowhere), self.python(lambda: self.study(trainer=nowhere).create()),
                self.line("study", "run", self.file(trainer=nowhere)))  # fmt: skip

    def no_server_runs_it(self):
        line = "command:false"
        said = self.line("study", "run", self.file(trainer=line))
        return (self.cpp("own trainer", line), self.python(lambda: self.study(trainer=line).create()), last_words(said))

    def no_study(self):
        return self.cpp("study"), self.python(lambda: self.client.open_study(4711)), self.line("study", "show", 4711)

    def unknown_token(self):
        return (self.cpp("token", NOBODY), self.python(lambda: es.connect(self.address, NOBODY).open_study(1)),
                self.line("study", "list", ESPALIER_TOKEN=NOBODY))  # fmt: skip

    def no_token(self):
        return (self.cpp("token", "secret"), self.python(lambda: es.connect(self.address, "secret")),
                self.line("study", "list", ESPALIER_TOKEN="secret"))  # fmt: skip

    def no_server(self):
        nobody = f"unix:{self.service.root}/nobody.sock"
        return (self.cpp("nothing", address=nobody), self.python(lambda: es.connect(nobody, policy=HASTY)),
                self.line("study", "list", "--server", nobody))  # fmt: skip

    def never_up(self):
        empty = self.service.root / "empty"
        return (self.cpp("address", address=empty / "address"), self.python(lambda: es.connect(data=empty)), self.line("study", "list", "--data", empty))

    def other_version(self):
        with FakeMaster() as master, es.connect(master.address, policy=HASTY) as client:
            return (self.cpp("nothing", address=master.address), self.python(lambda: list(client.studies())),
                    self.line("study", "list", "--server", master.address))  # fmt: skip

    def cancelled(self):
        study = self.study().create()
        study.cancel()
        return self.cpp("cancelled"), self.python(lambda: study.submit({"lr": 0.1})), self.line("study", "watch", study.id)

    def cancelled_later(self):
        study = self.study()
        future = study.submit({"lr": 0.1}, steps=LONG)
        study.cancel()
        in_cpp, in_python = self.cpp("cancelled later"), self.python(lambda: future.result(300))
        run = self.service.begin("study", "run", self.file(steps=LONG))
        wait_until(lambda: [each for each in self.client.studies(state="running") if each.name == "wrong"], "the study runs")
        self.service.run("study", "cancel", "wrong")
        said = run.communicate(timeout=300)[1]
        return in_cpp, in_python, f"exit code {run.returncode}: " + "".join(re.findall(r"(?m)^espalier: .*\n", said))

    def stopped(self):
        """Ends the service, and starts it again: the last."""
        hasty = es.connect(self.address, policy=es.RetryPolicy(call_patience=0.5))
        future = self.study(hasty).submit({"lr": 0.1}, steps=LONG)
        in_cpp = subprocess.Popen([BIN / "espalier-wrong-use", self.address, "stopped"], stdout=subprocess.PIPE, text=True)
        assert in_cpp.stdout.readline() == "waiting\n"
        run = self.service.begin("study", "run", self.file(steps=LONG))
        wait_until(lambda: [each for each in self.client.studies(state="running") if each.name == "wrong"], "the study runs")
        self.service.stop()
        answers = in_cpp.communicate(timeout=300)[0], self.python(lambda: future.result(300))
        for line in run.stderr:
            if line.startswith("espalier: "):
                break
        self.service.start()
        self.service.run("study", "cancel", "wrong")
        run.communicate(timeout=300)
        return *answers, f"goes on: {line}"


MISTAKES = {
    "A sequence that makes no sense": Wrong.sequence,
    "A hyper-parameter that the trainer has not": Wrong.hyper_parameter,
    "A trainer that no server has": Wrong.trainer,
    "Code of your own that is not there": Wrong.no_code,
    "Code of your own that no server can run": Wrong.no_server_runs_it,
    "A study that is not there": Wrong.no_study,
    "A token that nobody has": Wrong.unknown_token,
    "A token that is none": Wrong.no_token,
    "Nothing listens at the address": Wrong.no_server,
    "No service was started here": Wrong.never_up,
    "The server is of another version": Wrong.other_version,
    "The study was cancelled": Wrong.cancelled,
    "The study is cancelled while its results are waited for": Wrong.cancelled_later,
    "The server is stopped while results are waited for": Wrong.stopped,
}


class WrongUseTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.service = cls.enterClassContext(Service())
        cls.wrong = Wrong(cls.service)

    def test_every_mistake_is_answered_as_the_page_says_in_all_three_clients(self):
        page = table()
        self.assertEqual(list(page), list(MISTAKES))
        for mistake, make in MISTAKES.items():
            with self.subTest(mistake):
                answers = make(self.wrong)
                said = {client: self.named(answer) for client, answer in zip(CLIENTS, answers, strict=True) if answer is not None}
                self.assertEqual(said, page[mistake])

    def named(self, answer):
        """On one line, without what differs from one run to the next."""
        text = " ".join(answer.split("\n")).strip()
        for pattern, name in ((r"unix:.*?\.sock", "ADDRESS"), (re.escape(str(self.service.root)), "FOLDER"), (r"\b(study|trial|list) \d+", r"\1 N"),
                              (r"does not answer \(.*?\);", "does not answer (WHY);"), (r"command:false: +\S+:", "command:false: SERVER:")):  # fmt: skip
            text = re.sub(pattern, name, text)
        return text


if __name__ == "__main__":
    unittest.main()
