"""Hydra's sweeper that submits a study. Hydra imports this file whenever it starts, of every app: what it needs of Espalier is imported when it
sweeps. Annotations are types, not texts, and as OmegaConf knows them."""

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional

from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import CompactHydraException
from hydra.plugins.sweeper import Sweeper
from omegaconf import MISSING, DictConfig, OmegaConf

log = logging.getLogger(__name__)


@dataclass
class EspalierSweeperConfig:
    """hydra.sweeper: a study's arguments, as those of client.study(...)."""

    _target_: str = "hydra_plugins.espalier_sweeper.sweeper.EspalierSweeper"
    trainer: str = MISSING  # a name that servers know, or FILE.py:NAME
    tuner: Dict[str, Any] = MISSING  # as in a study file: {asha: {min: 15, max: 120}}
    goal: str = MISSING  # max or min
    metric: Optional[str] = None  # left out: the trainer's only one
    data: str = ""
    step: str = "epoch"
    share: str = "team"
    python: Optional[str] = None
    study: Optional[str] = None  # the study's name; left out: the app's
    server: Optional[str] = None  # left out: the one that `espalier up` runs here
    params: Dict[str, Any] = field(default_factory=dict)  # hyper-parameters as on the command line, which come after these


ConfigStore.instance().store(group="hydra/sweeper", name="espalier", node=EspalierSweeperConfig, provider="espalier")


class EspalierSweeper(Sweeper):
    """Each override is a hyper-parameter. The study's trainer trains: the app itself is not run."""

    def __init__(self, trainer, tuner, goal, study, server, params, **more):
        self._specification = {"trainer": trainer, "goal": goal, **more}
        self._study, self._tuner, self._server, self._params = study, tuner, server, params
        self.config: Optional[DictConfig] = None

    def setup(self, *, hydra_context, task_function, config):
        self.hydra_context, self.config = hydra_context, config

    def sweep(self, arguments: List[str]) -> Dict[str, Any]:
        """Runs the study to its end; what was best is given back, and stands in optimization_results.yaml in the sweep's folder. Raises
        CompactHydraException with what is wrong, or where no trial has a metric."""
        from espalier.errors import Error

        given = [f"{name}={value}" for name, value in (self._params or {}).items()]
        overrides = OverridesParser.create(config_loader=self.hydra_context.config_loader).parse_overrides([*given, *arguments])
        folder = Path(self.config.hydra.sweep.dir)
        folder.mkdir(parents=True, exist_ok=True)
        OmegaConf.save(self.config, folder / "multirun.yaml")
        try:
            results = self._best(overrides)
        except Error as error:
            raise CompactHydraException(str(error)) from error  # shown without a traceback
        OmegaConf.save(OmegaConf.create(results), folder / "optimization_results.yaml")
        log.info("best: %s", results)
        return results

    def _best(self, overrides):
        from espalier.client.client import connect
        from espalier.sequences.spaces import Grid

        from hydra_plugins.espalier_sweeper.space import space_of, tuner_of

        space, tuner = space_of(overrides), tuner_of(OmegaConf.to_container(self._tuner))
        with connect(self._server) as client:
            study = client.study(self._study or self.config.hydra.job.name, **self._specification, space=space)
            log.info("forecast, each trial to its end:\n%s", study.forecast(list(space) if isinstance(space, Grid) else space.some(), steps=tuner.longest))
            best = study.run(tuner).best
            if best is None:
                raise CompactHydraException(f"no trial of study {study.id} has a metric; see: espalier trial list {study.id}")
            values = {name: value if isinstance(value, (bool, int, float)) else str(value) for name, value in best.hyper_parameters.items()}
            return {"name": "espalier", "study": study.id, "best_trial": best.id, "best_step": best.steps, "best_params": values,
                    "best_value": best.metric}  # fmt: skip
