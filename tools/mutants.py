"""Shows that the simulator finds mistakes: breaks the code on purpose, one mistake at a time, and expects that a seed fails.

usage: python3 -m tools.mutants [--seeds N] [NAME ...]

Each tests/mutants/NAME.patch says in its first line what is wrong, and makes it so. They are applied to the last commit, in a worktree
under build/, one after the other. Of each that is found it prints the law that was broken, and how to see it again. Exit 1 if a mistake is
not found, or one seed fails without any.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PATCHES = ROOT / "tests/mutants"
WORKTREE = ROOT / "build/mutants"
PROGRAM = WORKTREE / "build/debug/bin/espalier"


def run(*command, cwd=WORKTREE):
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def must(*command, cwd=WORKTREE):
    done = run(*command, cwd=cwd)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def check_out():
    """The last commit, as nothing else has touched it."""
    if not WORKTREE.exists():
        must("git", "worktree", "prune", cwd=ROOT)
        must("git", "worktree", "add", "--detach", WORKTREE, "HEAD", cwd=ROOT)
    head = run("git", "rev-parse", "HEAD", cwd=ROOT).stdout.strip()
    must("git", "checkout", "--force", "--detach", head)
    must("cmake", "--preset", "debug", "-DESPALIER_TORCH=OFF")


def build():
    must("ninja", "-C", "build/debug", "-j", str(os.cpu_count()), "espalier")


def replay_in(lines):
    """How the seed that failed is run again, as the program says it at its end, or in the line with which it aborts."""
    for line in lines:
        if aborted := re.search(r"in seed 0*(\d+); replay: (espalier simulate --seeds 1 --from) SEED", line):
            return f"{aborted.group(2)} {aborted.group(1)}"
        if line.startswith("replay: "):
            return line.removeprefix("replay: ")
    return ""


def broken_law(seeds):
    """What the first seed that fails says in one sentence, with faults or without, and how it is run again; two empty texts if none fails."""
    for what in ("--seeds", "--studies"):
        done = run(PROGRAM, "simulate", what, str(seeds), "--broken-max", "1", "--last-lines", "0")
        if done.returncode != 0:
            lines = [line for line in done.stderr.splitlines() if line]
            return next(iter(lines), f"exit {done.returncode}"), replay_in(lines)
    return "", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=300, help="simulations for each mistake, at most")
    parser.add_argument("names", nargs="*", help="of tests/mutants/NAME.patch; none: all")
    arguments = parser.parse_args()
    names = arguments.names or sorted(patch.stem for patch in PATCHES.glob("*.patch"))
    check_out()
    build()
    law, replay = broken_law(arguments.seeds)
    if law:
        sys.exit(f"without any mistake: {law}\n  replay: {replay}")
    missed = 0
    for name in names:
        patch = PATCHES / f"{name}.patch"
        must("git", "apply", patch)
        build()
        law, replay = broken_law(arguments.seeds)
        must("git", "apply", "--reverse", patch)
        missed += not law
        print(f"{'found ' if law else 'MISSED'} {name}: {law}"[:200], flush=True)
        if law:
            print(f"  replay: git apply {patch.relative_to(ROOT)}, build, {replay}", flush=True)
    print(f"{len(names) - missed} of {len(names)} mistakes found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
