"""What the user should know while a call takes long, on standard error."""

import sys

from espalier.client.text import visible


def say(line: str) -> None:
    print(f"espalier: {visible(line)}", file=sys.stderr, flush=True)
