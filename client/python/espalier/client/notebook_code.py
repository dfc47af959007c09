"""A trainer that was written in a notebook's cells, made into a module: its class or function, and all that it names there - functions,
classes, imports, plain values."""

from __future__ import annotations

import ast
import inspect
import linecache
import pathlib
import symtable
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any

from espalier.errors import InvalidArgument

FILE = "notebook_cells.py"
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))
CONTAINERS = (list, tuple, set, frozenset, dict)


def source_of(name: str, cells: Mapping[str, Any]) -> str:
    """The module's text. `cells`: what the notebook's names stand for now, `In` (as IPython has it) for its cells. Raises InvalidArgument
    for what a server could not make again."""
    gathered = _Gathered(cells)
    gathered.add(name, name)
    return "\n\n\n".join(gathered.texts) + "\n"


class _Gathered:
    def __init__(self, cells):
        self._cells = cells
        self._seen = set()
        self.texts = []  # each behind those that it needs

    def add(self, name, of):
        if name in self._seen or name not in self._cells or name.startswith("__"):
            return
        self._seen.add(name)
        self.texts.append(self._text(name, self._cells[name], of))

    def _text(self, name, value, of):
        if isinstance(value, types.ModuleType):
            return f"import {value.__name__} as {name}"
        if isinstance(value, (type, types.FunctionType)) and value.__module__ == self._cells["__name__"]:
            text = self._definition(name, value)
            for each in sorted(_names_in(text)):
                self.add(each, name)
            return text
        if text := self._imported(name, value) or _constant(name, value):
            return text
        raise InvalidArgument(f"{of} names {name}, which was made in the notebook, and a server has not got: make it in init, in a function, or "
                              "as a plain value", "trainer")  # fmt: skip

    def _definition(self, name, value):
        for cell in self._cells_of(value):
            try:
                statements = ast.parse(cell).body
            except SyntaxError:  # it was not run
                continue
            for each in reversed(statements):
                if isinstance(each, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and each.name == name:
                    first = min([each.lineno, *(decorator.lineno for decorator in each.decorator_list)])
                    return "\n".join(cell.splitlines()[first - 1 : each.end_lineno])
        raise InvalidArgument(f"the cell in which {name} was written cannot be found: put it into a file, and import it from there", "trainer")

    def _cells_of(self, value) -> Iterator[str]:
        """First the cell that the code was compiled from, where it has code, and then all from the last to the first."""
        for each in [value, *vars(value).values()] if isinstance(value, type) else [value]:
            code = _code_of(each)
            if code is not None and (lines := linecache.getlines(code.co_filename)):
                yield "".join(lines)
        yield from reversed(self._cells.get("In", ()))

    def _imported(self, name, value):
        """As a cell imports it, else from where it says that it is from."""
        for cell in reversed(self._cells.get("In", ())):
            try:
                statements = ast.walk(ast.parse(cell))
            except SyntaxError:
                continue
            for each in statements:
                if isinstance(each, ast.ImportFrom) and not each.level:
                    for alias in each.names:
                        if (alias.asname or alias.name) == name and _is_in(each.module, alias.name, value):
                            return f"from {each.module} import {alias.name} as {name}"
        module, original = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        return f"from {module} import {original} as {name}" if _is_in(module, original, value) else None


def _code_of(value):
    function = getattr(value, "__func__", value)  # of a class method
    return getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None


def _is_in(module, name, value):
    return module in sys.modules and isinstance(name, str) and getattr(sys.modules[module], name, None) is value


def _constant(name, value):
    if isinstance(value, pathlib.PurePath):
        return f'{name} = __import__("pathlib").Path({str(value)!r})'
    return f"{name} = {value!r}" if _is_plain(value) else None


def _is_plain(value):
    if type(value) is dict:
        return all(map(_is_plain, value)) and all(map(_is_plain, value.values()))
    if type(value) in CONTAINERS:
        return all(map(_is_plain, value)) and (len(value) > 0 or type(value) in (list, tuple))
    return type(value) in PLAIN and value == value and value not in (float("inf"), float("-inf"))


def _names_in(text):
    """Those that are looked for outside of it."""
    names, tables = set(), [symtable.symtable(text, FILE, "exec")]
    while tables:
        table = tables.pop()
        is_module = table.get_type() == "module"
        names |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced() and (is_module or symbol.is_global())}
        tables += table.get_children()
    return names
