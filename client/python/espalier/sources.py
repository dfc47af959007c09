"""The sources that a trainer is made of, as far as they can change what is trained: its file and what it imports from the file's own
folder, without comments, docstrings and layout."""

import ast

SOURCE_BYTES_MAX = 10_000_000


class TooMuchSource(Exception):
    """The sources have more than SOURCE_BYTES_MAX bytes."""


def sources_of(file):
    """Path within the file's folder -> canonical text, of the file and of what it imports, directly or not, in any function.
    Raises TooMuchSource, OSError, SyntaxError."""
    return {name: canonical(tree) for name, tree in trees_of(file).items()}


def modules_of(file):
    """(names of the modules that these sources import, in any function; those of them that they are themselves), each up to its first
    dot. Raises as `sources_of`."""
    trees = trees_of(file)
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
    own = {name.partition("/")[0].removesuffix(".py") for name in trees}
    return {name.partition(".")[0] for name in names}, own


def trees_of(file):
    folder = file.parent
    result, waiting, byte_count = {}, [file], 0
    while waiting:
        path = waiting.pop()
        name = path.relative_to(folder).as_posix()
        if name in result:
            continue
        text = path.read_bytes()
        byte_count += len(text)
        if byte_count > SOURCE_BYTES_MAX:
            raise TooMuchSource(f"{folder} holds more than {SOURCE_BYTES_MAX} bytes of imported sources: give the trainer a version")
        tree = ast.parse(text, name)
        result[name] = tree
        waiting += imported(tree, path, folder)
    return result


def canonical(tree):
    """A text that is equal for programs that differ in comments, docstrings and layout alone."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


def imported(tree, path, folder):
    """Files below `folder` that the program in `path` imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files(folder, alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            base = path.parents[node.level - 1] if node.level else folder
            module = node.module.split(".") if node.module else []
            yield from _files(base, module)
            for alias in node.names:
                yield from _files(base, [*module, alias.name])


def _files(base, names):
    """Of a module and the packages that it lies in."""
    for count in range(1, len(names) + 1):
        place = base.joinpath(*names[:count])
        for path in (place.with_name(place.name + ".py"), place / "__init__.py"):
            if path.is_file():
                yield path
