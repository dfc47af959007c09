"""Adds to the wheel what is made when it is built: the descriptors of proto/espalier/v1, so that who installs it needs no compiler of
protocols. All else stands in pyproject.toml."""

import pathlib
import sys

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = pathlib.Path(__file__).resolve().parent


class BuildWithProtocol(build_py):
    def run(self):
        super().run()
        if getattr(self, "editable_mode", False):
            return  # the checkout makes them when they are needed
        sys.path.insert(0, str(HERE))
        from espalier.client import protocol

        target = pathlib.Path(self.build_lib) / protocol.BUILT.relative_to(HERE)
        target.write_bytes(protocol.descriptor_set(protocol.PROTOS))


setup(cmdclass={"build_py": BuildWithProtocol})
