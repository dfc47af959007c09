"""The order in which the site is read, as Sphinx takes it from the first page."""

import fnmatch


def trees(parts, pages):
    """Directives for the end of the first page: for each part (docs/conf.py) its pages, by their own titles."""
    return "".join(f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(_expanded(entries, pages)) + "\n```\n" for title, entries in parts.items())


def _expanded(entries, pages):
    for entry in entries:
        yield from sorted(fnmatch.filter(pages, entry)) if "*" in entry else [entry]
