"""What the user should know while a call takes long, on standard error."""

import sys


def say(line: str) -> None:
    print(f"espalier: {line}", file=sys.stderr, flush=True)
