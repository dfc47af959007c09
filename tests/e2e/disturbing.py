"""What may happen to a service while a study runs on it, at random moments of the study."""

import json
import os
import random
import signal

from service import wait_until


def draw_from_seed():
    """The random generator of a test; its seed is the environment's ESPALIER_SEED, or new, and printed."""
    seed = int(os.environ.get("ESPALIER_SEED", random.randrange(2**32)))
    print(f"ESPALIER_SEED={seed}", flush=True)
    return random.Random(seed)


def kill(role):
    """A disturbance: kill -9 of one process of the role. What does not start again by itself is started."""
    def disturb(service, draw):
        service.kill(role, draw.randrange(4))
        if role == "up":
            service.start()

    return disturb


def drain(service, _):
    """The node manager is asked to stop: it saves what is trained. `up` starts another."""
    (node,) = wait_until(lambda: service.processes().get("node"), "there is a node manager")
    os.kill(node, signal.SIGTERM)


def evict(service, draw):
    """Checkpoint files vanish: half of those that are there."""
    for file in sorted(path for path in (service.data / "checkpoints").rglob("*") if path.is_file() and path.name != ".espalier-store"):
        if draw.random() < 0.5:
            file.unlink(missing_ok=True)


def fetch_otherwise(service, draw):
    """The service is killed, and starts again with workers of built-in trainers that fetch another number of batches ahead."""
    draw_prefetch(service, draw)
    service.kill("up")
    service.start()


def draw_prefetch(service, draw):
    """For workers from the service's next start on; another number than before."""
    before = service.variables.get("ESPALIER_PREFETCH")
    service.variables["ESPALIER_PREFETCH"] = draw.choice([each for each in ("0", "1", "2", "3", "7") if each != before])
    print("ESPALIER_PREFETCH=" + service.variables["ESPALIER_PREFETCH"], flush=True)


def run_disturbed(service, study, text, disturbances, draw, most_steps=3):
    """Runs the study to its end. Each of `disturbances`, (name, function) in order, comes when the study has trained up to
    `most_steps` steps more than at the one before; those that the study does not wait for are left out. Returns how many came."""
    running = service.begin("study", "run", service.write(f"{study}.yaml", text))

    def trained():
        """Steps that will not be trained again."""
        shown = service.run("study", "show", study, check=False)
        if shown.returncode != 0:
            return 0
        steps = json.loads(shown.stdout)["steps"]
        return steps["trained"] - steps["re_derived"]

    came = 0
    for name, disturb in disturbances:
        awaited = trained() + draw.randint(1, most_steps)
        wait_until(lambda: running.poll() is not None or trained() >= awaited, f"{awaited} steps are trained")
        if running.poll() is not None:
            break
        print(f"{study}: {name} after {trained()} steps", flush=True)
        disturb(service, draw)
        came += 1
    _, errors = running.communicate()
    assert running.returncode == 0, errors
    # Who was killed last comes back, and tidies up.
    wait_until(service.servers, "the servers are connected again")
    return came
