"""Blocks that quote a file."""


def missing_lines(block, text):
    """The block's lines that do not stand in `text` in the block's order; of a diff those that are added. `...` stands for what is left out."""
    lines = block.text.splitlines()
    if block.language == "diff":
        lines = [line[1:] for line in lines if line.startswith("+")]
    rest = iter(text.splitlines())
    return [line for line in lines if line.strip() not in ("", "...") and line not in rest]
