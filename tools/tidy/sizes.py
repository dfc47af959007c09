"""How long files and functions may be."""

import ast
import re

LINES_MAX = 500
TEST_LINES_MAX = 700
FUNCTION_LINES_MAX = 70
TEST_FUNCTION_LINES_MAX = 100  # a test may hold a table of cases
SOURCES = {".h", ".cc", ".py", ".proto", ".sh", ".cmake", ".sql", ".go"}

CONTROL = re.compile(r"^(else\s+)?(if|for|while|switch|catch|do|else|try|return|case)\b")
# What may stand between a function's parameters and its body.
HEAD = re.compile(r"\)\s*(const|noexcept|override|final|mutable|&|\s)*(->[^;{}]*|requires[^;{}]*|:(?!:).*)?$", re.DOTALL)
INITIALIZER = re.compile(r"\)\s*(noexcept\s*)?:[^:].*[A-Za-z0-9_>]$", re.DOTALL)

ACCESS = re.compile(r"(\s*(public|private|protected):)*")


def check(source):
    if source.suffix not in SOURCES:
        return
    limit = TEST_LINES_MAX if source.is_test else LINES_MAX
    if len(source.lines) > limit:
        yield source.problem(1, f"{len(source.lines)} lines; at most {limit}: split it by concept")
    function_limit = TEST_FUNCTION_LINES_MAX if source.is_test else FUNCTION_LINES_MAX
    for line, length in functions(source):
        if length > function_limit:
            yield source.problem(line, f"a function of {length} lines; at most {function_limit}: give its parts names")


def functions(source):
    """(first line, number of lines) of each function."""
    if source.is_cpp:
        return cpp_functions(source.code)
    if source.suffix == ".py":
        return python_functions(source.text)
    return []


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno + 1


def cpp_functions(code):
    """A brace opens a function if what stands before it ends like a function's head, and it is in no other function."""
    stack = []  # for each open brace: the line where a function began, or None
    head_start = 0
    skip_to = 0
    code = re.sub(r"^[ \t]*#[^\n]*(\\\n[^\n]*)*", lambda m: "\n" * m[0].count("\n"), code, flags=re.MULTILINE)
    for match in re.finditer(r"[{};]", code):
        if match.start() < skip_to:
            continue
        char, at = match[0], match.start()
        if char == "{":
            head_start += ACCESS.match(code[head_start:at]).end()
            head = code[head_start:at].strip()
            if INITIALIZER.search(head) and not stack_has_function(stack):
                skip_to = closing_brace(code, at) + 1  # a member's initializer: the head goes on after it
                continue
            is_function = HEAD.search(head) and not CONTROL.match(head) and not stack_has_function(stack)
            stack.append(code.count("\n", 0, head_start + leading_blank(code[head_start:at])) + 1 if is_function else None)
        elif char == "}" and stack:
            start = stack.pop()
            if start is not None:
                yield start, code.count("\n", 0, at) + 2 - start
        head_start = at + 1


def leading_blank(text):
    return len(text) - len(text.lstrip())


def stack_has_function(stack):
    return any(start is not None for start in stack)


def closing_brace(code, opening):
    depth = 0
    for match in re.compile(r"[{}]").finditer(code, opening):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    return len(code)
