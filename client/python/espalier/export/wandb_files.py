"""A study's trials as runs of Weights & Biases, written as files without a network. The one file that imports it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike

import wandb

from espalier.client.views import Summary
from espalier.client.curves import Curve
from espalier.export.forks import Fork

EXIT_CODES = {"failed": 1, "cancelled": 1}
# Nothing of this process belongs to the runs: neither its output, nor its machine's load, nor its code.
SETTINGS = {"silent": True, "console": "off", "x_disable_stats": True, "x_disable_meta": True, "x_disable_machine_info": True, "x_save_requirements": False,
            "disable_git": True, "disable_code": True, "disable_job_creation": True}  # fmt: skip


def write(study: Summary, curves: Iterable[Curve], forks: Mapping[int, Fork], folder: str | PathLike, project: str) -> dict[int, str]:
    """The run's id of each trial: the same whenever a study is written."""
    runs: dict[int, str] = {}
    for curve in curves:
        fork = forks.get(curve.trial)
        run_id = f"espalier-{study.id}-{curve.trial}"
        own = {"study": study.id, "trial": curve.trial, "state": curve.state, "steps": curve.steps}
        tags = ["espalier", curve.state]
        if fork is not None:
            own |= {"parent_trial": fork.parent, "branch_step": fork.step}
            tags.append(f"fork of {runs[fork.parent]} at {fork.step}")
        with wandb.init(mode="offline", dir=str(folder), project=project, group=study.name, name=f"trial {curve.trial}", id=run_id,
                        notes=curve.message or None, tags=tags, config={**curve.values(), "espalier": own}, reinit="create_new",
                        settings=wandb.Settings(**SETTINGS)) as run:  # fmt: skip
            for step, metrics in curve.metrics().items():
                run.log(metrics, step=step)
            run.finish(exit_code=EXIT_CODES.get(curve.state, 0))
        runs[curve.trial] = run_id
    return runs
