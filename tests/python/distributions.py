"""Distributions made for a test, as if they had been installed."""

import os
import shutil

from fake_node_manager import PACKAGE


def make(folder, name, version="1.0", requires=()):
    """One of that name, with a module that is called as it is, for who has `folder` in its path."""
    module, about = folder / f"{name}.py", folder / f"{name}-{version}.dist-info"
    for old in folder.glob(f"{name}-*.dist-info"):
        shutil.rmtree(old)
    about.mkdir(parents=True, exist_ok=True)
    module.write_text(f"version = {version!r}\n")
    (about / "top_level.txt").write_text(f"{name}\n")
    lines = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}", *(f"Requires-Dist: {each}" for each in requires)]
    (about / "METADATA").write_text("\n".join(lines) + "\n\n")


def environment(folder, *others):
    """Of a worker that has them."""
    return {"PYTHONPATH": os.pathsep.join(map(str, [PACKAGE, folder, *others]))}
