"""Classes that two files define under one name. A program that holds both has the constructors and destructors of one of them for both,
whichever the linker met first: nothing warns of it, and it may show only under other options of the compiler."""

import re

NAMESPACE = re.compile(r"(?:inline )?namespace ([\w:]*) ?\{")
END_OF_NAMESPACE = re.compile(r"\}  // namespace\b")  # as clang-format writes it
CLASS = re.compile(r"(?:struct|class) (\w+)(?: final)?(?: :(?!:).*)?\s*\{")


def classes_of(source):
    """The classes of the file's namespaces, unnamed ones left out, each with its line."""
    namespaces = []
    for number, (line, code) in enumerate(zip(source.lines, source.code.split("\n")), 1):
        if opened := NAMESPACE.match(code):
            namespaces.append(opened[1])
        elif END_OF_NAMESPACE.match(line) and namespaces:
            namespaces.pop()
        elif (defined := CLASS.match(code)) and "" not in namespaces:
            yield "::".join([*namespaces, defined[1]]), number


def check_classes(sources):
    """Each class has one definition."""
    defined_in = {}
    for source in sources:
        if not source.is_cpp:
            continue
        for name, number in classes_of(source):
            first = defined_in.setdefault(name, source.path)
            if first != source.path:
                yield source.problem(number, f"{name} is another class in {first}: programs that hold both take parts of either")
