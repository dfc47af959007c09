"""The reference of the command line, made of `espalier manual`: the man page, whose few macros (client/cli/manual.cc) are read here."""

import collections
import os
import pathlib
import re
import subprocess

ESCAPES = {r"\e": "\\", r"\-": "-", r"\(ti": "~", r"\(ha": "^", r"\(ga": "`", r"\(aq": "'", r"\&": ""}
ESCAPE = re.compile(r"\\\(..|\\[-e&]|\\f[BIR]")
COMMON_TO = 10  # commands have an option: then it is told once, for all of them

Command = collections.namedtuple("Command", "name synopsis help arguments")  # arguments and options: {term: help}


class Unavailable(Exception):
    """The program is not built."""


def page(root):
    return _page(_commands(_manual(root)))


def _manual(root):
    places = [pathlib.Path(os.environ["ESPALIER_BIN"])] if "ESPALIER_BIN" in os.environ else [root / "build" / each / "bin" for each in ("release", "debug")]
    program = next((place / "espalier" for place in places if (place / "espalier").exists()), None)
    if program is None:
        raise Unavailable(f"no program `espalier` in {' or '.join(map(str, places))}, whose manual is a page: build it, or name its folder by ESPALIER_BIN")
    return subprocess.run([program, "manual"], capture_output=True, text=True, check=True).stdout


def _commands(manual):
    """Of the man page's section COMMANDS, in its order."""
    commands = []
    lines = iter(manual[manual.index(".SH COMMANDS\n"):].splitlines()[1:])
    for line in lines:
        if line.startswith(".SS "):
            commands.append(Command(line[4:], _text(next(lines)), [], {}))
        elif line == ".TP":
            term = _text(next(lines))
            commands[-1].arguments[term] = _text(next(lines))
        elif line != ".PP":
            commands[-1].help.append(_text(line))
    return commands


def _text(line):
    return ESCAPE.sub(lambda match: ESCAPES.get(match[0], ""), line)


def _page(commands):
    counts = collections.Counter(each for command in commands for each in command.arguments.items())
    common = {each for each, count in counts.items() if count >= COMMON_TO}
    parts = ["# The command line", "As `espalier manual` has it (`espalier manual | man -l -`). Every command has `--help`; `espalier completion bash`, `zsh` or "
             "`fish` prints what completes commands, options and their values. Exit codes: 0 done, 1 refused or failed, 2 wrong usage or file, 3 no server.",
             "## Options of many commands", _table([each for command in commands[:0:-1] for each in command.arguments.items() if each in common])]  # fmt: skip
    noun = None
    for command in commands:
        _, this, *verb = command.name.split(" ", 2)
        if this != noun:
            noun = this
            parts += [f"## espalier {noun}"]
        parts += [f"### {command.name}"] if verb else []
        parts += [f"```text\n{command.synopsis}\n```", _prose(" ".join(command.help)), _table([each for each in command.arguments.items() if each not in common])]
        told = [f"`{term.split()[0]}`" for term, help in command.arguments.items() if (term, help) in common]
        parts += ["And, as many do: " + ", ".join(told) + "."] if told else []
    return "\n\n".join(part for part in parts if part)


def _table(arguments):
    rows = [f"| `{_cell(term)}` | {_cell(_prose(help))} |" for term, help in dict.fromkeys(arguments)]
    return "\n".join(["| | |", "| --- | --- |", *rows]) if rows else ""


def _cell(text):
    return text.replace("|", "\\|")


def _prose(text):
    """What Markdown would take for its own stands as it is, but for code."""
    return re.sub(r"(?<!`)[*_<](?![^`]*`[^`]*$)", lambda match: "\\" + match[0], text)
