"""Links of documents to what is no page: in the repository they lead to a file or a folder, on the site to the page that shows it."""

import posixpath
import re

LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)]*)?\))")
SHOWN_AS_THEY_ARE = (".md", ".svg")
START, START_PAGE = "README.md", "index.md"


def sources_of(page, text, paths):
    """The files and folders of the repository that a page links to and that are neither pages nor pictures. `paths`: all files that there are."""
    return [source for _, target, _ in LINK.findall(text) if (source := _source(page, target, paths))]


def to_pages(page, text, paths):
    """The page's text, whose links lead to pages of the site."""

    def replaced(match):
        before, target, after = match.groups()
        if _source(page, target, paths):
            return f"{before}{target.rstrip('/')}.md{after}"
        return f"{before}{target.removesuffix(START)}{START_PAGE}{after}" if _path(page, target) == START else match[0]

    return LINK.sub(replaced, text)


def _source(page, target, paths):
    path = _path(page, target)
    if path is None or target.endswith(SHOWN_AS_THEY_ARE):
        return None
    return path if path in paths or any(each.startswith(path + "/") for each in paths) else None


def _path(page, target):
    return None if "://" in target else posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
