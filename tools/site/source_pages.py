"""A source, a folder of sources, or a notebook as a page."""

import json
import posixpath

LANGUAGES = {".cc": "cpp", ".h": "cpp", ".go": "go", ".ipynb": "python", ".proto": "protobuf", ".py": "python", ".service": "ini", ".sh": "bash",
             ".toml": "toml", ".yaml": "yaml"}  # fmt: skip


def page(root, path, paths):
    """`path`: from `root`; of a folder, whose files are those of `paths` below it, each is shown."""
    shown = [path] if path in paths else sorted(each for each in paths if each.startswith(path + "/"))
    parts = ["---\norphan: true\n---", f"# {path}"]  # no part of the order in which the site is read
    for each in shown:
        parts += [f"## {each}"] if each != path else []
        parts.append(_notebook(root / each) if each.endswith(".ipynb") else fenced((root / each).read_text(), posixpath.splitext(each)[1]))
    return "\n\n".join(parts)


def fenced(text, suffix):
    """As a block of code, in the colours of its language."""
    longest = max((len(line) - len(line.lstrip("`")) for line in text.splitlines()), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{LANGUAGES.get(suffix, 'text')}\n{text.rstrip()}\n{fence}"


def _notebook(file):
    """Its cells, without what they printed."""
    cells = json.loads(file.read_text())["cells"]
    texts = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    return "\n\n".join(text if kind == "markdown" else fenced(text, ".ipynb") for kind, text in texts if text)
