"""Assembles what the site of the documents is made from: `python3 -m tools.site FOLDER`. The folder is a tree as the repository's: its pages,
the references, which are made here, and for each source that a page links to a page that shows it, examples/go/worker.go.md for
examples/go/worker.go."""

import pathlib
import runpy
import shutil
import sys

from tools.site import command_line, cpp_headers, links, navigation, python_package, source_pages
from tools.tidy.source import tracked_files

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCES = {"python": python_package, "command_line": command_line, "cpp": cpp_headers}
START = "README.md"
NO_PAGES = ("tests/",)
PICTURES = "docs/plots/"
FOR_SPHINX = "docs/conf.py"


def main(folder):
    shutil.rmtree(folder, ignore_errors=True)
    paths = {source.path for source in tracked_files(ROOT)}
    pages = {path: (ROOT / path).read_text() for path in sorted(paths) if path.endswith(".md") and not path.startswith(NO_PAGES)}
    pages |= {f"reference/{name}.md": reference.page(ROOT) for name, reference in REFERENCES.items()}
    sources = sorted({source for page, text in pages.items() for source in links.sources_of(page, text, paths)})
    pages = {page: links.to_pages(page, text, paths) for page, text in pages.items()}
    pages |= {f"{source}.md": source_pages.page(ROOT, source, paths) for source in sources}
    pages[START] += navigation.trees(runpy.run_path(str(ROOT / FOR_SPHINX))["NAVIGATION"], pages)
    for page, text in pages.items():
        _write(folder / (links.START_PAGE if page == START else page), text)
    for path in sorted(path for path in paths if path.startswith(PICTURES)):
        _write(folder / path, (ROOT / path).read_text())
    print(f"{folder}: {len(pages)} pages, {len(REFERENCES)} of them references made now, {len(sources)} sources that pages link to")


def _write(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 -m tools.site FOLDER")
    try:
        main(pathlib.Path(sys.argv[1]))
    except command_line.Unavailable as error:
        sys.exit(f"error: {error}")
