"""Figures 5.2 and 5.3: a search space of sequences, and a study of it by a tuner that stops trials early. Its trainer is the built-in `mlp`, or
with `--own-trainer` that of figure 5.1.

    espalier up                              # in another terminal
    python examples/thesis/python/study.py
"""

import argparse
import pathlib

from early_stop import EarlyStopTuner, Schedule

from espalier import Constant, Exponential, Grid, MultiStep, connect

MY_TRAINER = pathlib.Path(__file__).with_name("my_trainer.py")


def get_search_space():
    hp = {
        "lr": [
            Constant(0.1),
            Exponential(0.1, 0.95),
        ],
        "bs": [
            Constant(128),
            MultiStep(128, [4], 2),
            Constant(64),
            MultiStep(64, [4], 2),
        ],
    }
    return Grid(hp)


def main(own_trainer):
    trainer = {"trainer": f"{MY_TRAINER}:MyTrainer"} if own_trainer else {"trainer": "mlp", "data": "digits"}
    with connect() as client:
        study = client.study("thesis", **trainer, step="20 updates", metric="test_acc", goal="max", space=get_search_space())

        schedule = Schedule.from_milestones((5, 8), (10, 4))
        tuner = EarlyStopTuner(schedule, get_search_space(), "test_acc")
        best = tuner(study)
        print(f"best: {best[0].refresh()}")

        # Users can tune a study multiple times on different tuners
        tuner2 = EarlyStopTuner(Schedule.from_milestones((2, 8), (4, 4), (8, 2)), get_search_space(), "test_acc")
        tuner2(study)

        # Users can directly evaluate a certain trial on a specified step
        evaluation = study.eval({"lr": Exponential(0.1, 0.95), "bs": MultiStep(128, [4], 2)}, 7)
        print(f"trial {evaluation.trial_id} at step {evaluation.step}: test_acc {evaluation['test_acc']:.4f}")

        study.finish()
        study.wait()
        print(study.show())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--own-trainer", action="store_true", help="train with my_trainer.py, not the built-in mlp")
    main(parser.parse_args().own_trainer)
