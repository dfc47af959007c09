"""Checks the repository's rules: sizes, words, includes, protos, what is defined twice, what nobody uses. Prints each problem with its place; exit 1 if there is one."""

import pathlib
import sys

from tools.tidy import definitions, includes, protos, references, sizes, unused, words
from tools.tidy.source import tracked_files


def problems_of(sources, record):
    rules = includes.Rules.of_repository()
    for source in sources:
        yield from sizes.check(source)
        yield from words.check(source, rules)
        yield from includes.check(source, rules)
    paths = [source.path for source in sources]
    for source in sources:
        if source.suffix == ".md":
            yield from references.check_links(source, paths)
    yield from references.check_laws(sources)
    yield from references.check_rules(rules, paths)
    proto_sources = [source for source in sources if source.suffix == ".proto"]
    for source in proto_sources:
        yield from protos.check_comments(source)
    yield from protos.check_compatibility(proto_sources, record)
    yield from definitions.check_classes(sources)
    yield from unused.check_functions(sources)
    yield from unused.check_fields(sources)


def main(arguments):
    root = pathlib.Path(__file__).resolve().parents[2]
    sources = list(tracked_files(root))
    if arguments == ["--record-protos"]:
        record = protos.record_of([source for source in sources if source.suffix == ".proto"])
        protos.RECORD.write_text(record, encoding="utf-8")
        return 0
    if arguments:
        print("usage: python3 -m tools.tidy [--record-protos]", file=sys.stderr)
        return 2
    record = protos.RECORD.read_text(encoding="utf-8") if protos.RECORD.exists() else ""
    problems = list(problems_of(sources, record))
    for problem in problems:
        print(problem)
    print(f"tidy: {len(sources)} files, {len(problems)} problems", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
