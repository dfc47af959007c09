"""The documents as a site: how Sphinx makes it, and in which order it is read. `docs/build` builds it.

Its tree is the repository's own, so that links between files are links between pages."""

# Title of a part -> its pages, or a pattern of names, which stands for those that there are.
NAVIGATION = {
    "Begin": ["docs/tutorial.md"],
    "Trainers": [
        "docs/python_trainers.md", "docs/adapters.md", "docs/script_trainers.md", "docs/trainer_check.md", "docs/trainers.md", "docs/synthetic.md",
        "docs/trainer_protocol.md",
    ],
    "Studies": [
        "docs/tuners.md", "docs/sequences.md", "docs/python_client.md", "docs/cpp_*.md", "docs/branches.md", "docs/forecasts.md",
        "docs/simulations.md", "docs/traces.md", "docs/policies.md",
        "docs/exports.md", "docs/hydra.md", "docs/agents.md",
    ],
    "Coming from": ["docs/from_optuna.md", "docs/from_ray_tune.md"],
    "Reference": ["reference/python.md", "reference/command_line.md", "reference/cpp.md", "docs/errors.md", "docs/glossary.md"],
    "Examples": ["examples/trunk/README.md", "examples/thesis/README.md", "bench/studies/README.md"],
    "Operations": ["docs/operations.md", "docs/reliability.md", "docs/users.md", "docs/glusterfs.md"],
    "Contributors": [
        "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/laws.md", "docs/testing.md", "searchplan/README.md", "scheduler/README.md", "master/README.md",
        "worker/node/README.md", "worker/trainer/data/DIGITS.md", "bench/README.md", "docs/checklists/*.md", "docs/decisions/*.md", "CHANGELOG.md",
    ],
}  # fmt: skip

project = html_title = "Espalier"
extensions = ["myst_parser"]
myst_heading_anchors = 4
root_doc = "index"
smartquotes = False  # what is quoted is often to be typed
html_theme = "furo"
html_show_copyright = html_show_sphinx = html_copy_source = False
pygments_style, pygments_dark_style = "friendly", "monokai"
