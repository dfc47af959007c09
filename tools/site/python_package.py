"""The reference of the Python package, made of its sources: signatures and docstrings of every name of `import espalier as es`. Nothing of it is
imported but the table of its names."""

import ast
import importlib.util

PACKAGE = "client/python/espalier"
CHAPTERS = {
    "The service": ["connect", "up", "Client", "Service", "RetryPolicy"],
    "Studies": ["Study", "Trial", "Evaluation", "Forecast", "Future", "Run", "as_completed", "wait_all", "wait_any"],
    "What is tried": ["Grid", "Space", "Range", "uniform", "loguniform", "integer", "choice"],
    "Sequences": ["Sequence", "parse"],  # and the families
    "Tuners": ["GridSearch", "Random", "SHA", "ASHA", "Hyperband", "Median", "EarlyStop", "TPE", "PBT"],
    "Trainers": ["Trainer", "loop", "sequence", "initial", "files", "once", "track", "evaluate", "setup", "report", "batches", "steps", "heartbeat",
                 "Finished", "DataLoader"],
    "Errors": ["Error"],
}  # fmt: skip
FILLED_FROM = {"sequences.families": "Sequences", "errors": "Errors"}  # by the module that a name is in
MODULES = ["lightning.declare", "transformers", "accelerate", "export", "optuna"]  # of es.NAME, each for other tools
COLUMNS = 100
DOCUMENTS = {"Sequences": "sequences", "Tuners": "tuners", "Trainers": "python_trainers", "Studies": "python_client"}


class Unavailable(Exception):
    """Never: the package is its sources."""


def page(root):
    folder = root / PACKAGE
    places = _places(folder)
    chapters = {title: list(names) for title, names in CHAPTERS.items()}
    for name, place in places.items():
        if place in FILLED_FROM and name not in chapters[FILLED_FROM[place]]:
            chapters[FILLED_FROM[place]].append(name)
    told = {name for names in chapters.values() for name in names} | {"ResumableLoader"}  # that is DataLoader
    if missing := set(places) - told:
        raise ValueError(f"tools/site/python_package.py: in no chapter: {', '.join(sorted(missing))}")
    parts = ["# The Python package", "Every name of `import espalier as es`, by its sources' own words."]
    for title, names in chapters.items():
        parts += [f"## {title}"] + ([f"[{title}](../docs/{DOCUMENTS[title]}.md) has them in their context."] if title in DOCUMENTS else [])
        for name in names:
            module, _, own_name = places[name].partition(":")
            parts += _Module(folder, module).told(own_name or name, f"es.{name}", name)
    for module in MODULES:
        parts += [f"## es.{module.partition('.')[0]}", *_Module(folder, module).all_told(f"es.{module.partition('.')[0]}")]
    return "\n\n".join(parts)


def _places(folder):
    specification = importlib.util.spec_from_file_location("espalier_names", folder / "__init__.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module._PLACES


class _Module:
    def __init__(self, folder, name):
        path = folder / (name.replace(".", "/") + ".py")
        text = (path if path.exists() else folder / name / "__init__.py").read_text()
        self.lines = text.splitlines()
        self.tree = ast.parse(text)
        self.functions = [each for each in self.tree.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]
        self.classes = {each.name: each for each in self.tree.body if isinstance(each, ast.ClassDef)}

    def told(self, name, called, heading):
        if name in self.classes:
            return self._class(self.classes[name], called, heading)
        return _function([each for each in self.functions if each.name == name], called, f"### {heading}")

    def all_told(self, called):
        """Every public function of the module, after what it says of itself."""
        public = dict.fromkeys(each.name for each in self.functions if not each.name.startswith("_") and ast.get_docstring(each))
        parts = [ast.get_docstring(self.tree)]
        for name in public:
            parts += self.told(name, f"{called}.{name}", name)
        return parts

    def _class(self, definition, called, heading):
        parts = [f"### {heading}"]
        if arguments := self._fields(definition):
            by_name = any("kw_only=True" in ast.unparse(each) for each in definition.decorator_list)
            parts.append(_code(_call(called, ["*"] * by_name + arguments)))
        parts += [ast.get_docstring(each) for each in [definition, *self._hidden_ancestors(definition)]] + ["\n".join(self._attributes(definition))]
        for name in dict.fromkeys(each.name for each in definition.body if isinstance(each, ast.FunctionDef)):
            versions = [each for each in definition.body if isinstance(each, ast.FunctionDef) and each.name == name]
            if not name.startswith("_") and any(map(ast.get_docstring, versions)):
                parts += _function(versions, f"{heading.lower()}.{name}", f"#### {heading}.{name}")
        return [part for part in parts if part]

    def _bases(self, definition):
        return [self.classes[base.id] for base in definition.bases if isinstance(base, ast.Name) and base.id in self.classes]

    def _hidden_ancestors(self, definition):
        """Classes below it that have no entry of their own."""
        for base in self._bases(definition):
            if base.name.startswith("_"):
                yield base
                yield from self._hidden_ancestors(base)

    def _attributes(self, definition):
        """Those of a class that a comment explains beside where they are set, each an item of a list."""
        for each in definition.body:
            if isinstance(each, ast.Assign) and not each.targets[0].id.startswith("_"):
                _, explained, comment = self.lines[each.lineno - 1].partition("  # ")
                if explained:
                    yield f"- `{ast.unparse(each)}`: {comment}"

    def _fields(self, definition):
        """What a class is made of that declares its fields, those of the classes below it first; one without a default before those that have one."""
        fields = self._declared(definition)
        return [text for text in fields.values() if " = " not in text] + [text for text in fields.values() if " = " in text]

    def _declared(self, definition):
        fields = {}
        for base in self._bases(definition):
            fields |= self._declared(base)
        for each in definition.body:
            if isinstance(each, ast.AnnAssign) and not ast.unparse(each.annotation).startswith("ClassVar"):
                name = each.target.id
                fields[name] = f"{name}: {ast.unparse(each.annotation)}" + (f" = {ast.unparse(each.value)}" if each.value else "")
        return fields


def _function(versions, called, heading):
    """`versions`: its definition, after its overloads, where there are some."""
    shown = versions[:-1] or versions
    documented = next(filter(None, map(ast.get_docstring, versions)), "")
    return [heading, _code("\n".join(_signature(each, called) for each in shown)), documented]


def _signature(function, called):
    given_back = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    if any(isinstance(each, ast.Name) and each.id == "property" for each in function.decorator_list):
        return f"{called}{given_back}"
    return _call(called, _arguments(function.args)) + given_back


def _arguments(given):
    """As they are written, each a text, but for `self`."""
    positional = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(positional) - len(given.defaults)) + given.defaults
    texts = [_argument(each, default) for each, default in zip(positional, defaults)]
    if positional and positional[0].arg in ("self", "cls"):
        texts = texts[1:]
    if given.vararg:
        texts.append("*" + _argument(given.vararg, None))
    elif given.kwonlyargs:
        texts.append("*")
    texts += [_argument(each, default) for each, default in zip(given.kwonlyargs, given.kw_defaults)]
    return texts + (["**" + _argument(given.kwarg, None)] if given.kwarg else [])


def _argument(argument, default):
    text = argument.arg + (f": {ast.unparse(argument.annotation)}" if argument.annotation else "")
    equals = " = " if argument.annotation else "="
    return text if default is None else f"{text}{equals}{ast.unparse(default)}"


def _call(called, arguments):
    line = f"{called}({', '.join(arguments)})"
    return line if len(line) <= COLUMNS else f"{called}(\n    " + ",\n    ".join(arguments) + ",\n)"


def _code(text):
    return f"```python\n{text}\n```"
