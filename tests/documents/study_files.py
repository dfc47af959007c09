"""The YAML that documents show: whole study files, and parts of such, which are completed to whole ones."""

import yaml

KEYS = {"study", "trainer", "data", "step", "evaluate", "hyper_parameters", "trials", "only_if", "metric", "tuner", "deadline", "priority", "hang_after",
        "stop", "python", "environment", "keep", "share", "check", "reuse_from", "policy"}  # fmt: skip
# Of a trainer that takes anything: eight trials.
COMPLETE = {"study": "part", "trainer": "synthetic", "hyper_parameters": {"rate": [0.1, 0.2, 0.3, 0.4], "size": [16, 32]},
            "metric": {"name": "test_acc", "goal": "max"}, "tuner": {"grid": {"steps": 100}}}  # fmt: skip


def study_files_of(text):
    """(name, text) of each study file that stands for a block."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if len(lines) > 1 and all(line.startswith("tuner:") for line in lines):
        return [file for line in lines for file in study_files_of(line)]
    content = yaml.safe_load(text)
    if isinstance(content, list):  # of servers, say
        return []
    if content.keys() >= {"study", "trainer", "hyper_parameters"}:
        return [(content["study"], text)]
    part = content if content.keys() <= KEYS else {"hyper_parameters": content}
    return [("part", yaml.safe_dump({**COMPLETE, **part}, sort_keys=False))]
