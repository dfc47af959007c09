"""Small once more, in the loop form."""

from small import SAMPLES, Points, Tied, drawn
from torch import nn, no_grad, optim, randn

import espalier as es


@es.loop(
    hyper_parameters={
        "lr": es.sequence(float, default=0.05),
        "bs": es.sequence(int, default=8),
        "failure": es.sequence(str, default=""),
        "workers": es.initial(int, default=0),
    },
    metrics=["loss"],
)
def main(hp):
    model = Tied()
    optimizer = optim.SGD(model.parameters(), lr=hp["lr"], momentum=0.9, nesterov=True)
    loader = es.DataLoader(Points(), batch_size=hp["bs"], shuffle=True, num_workers=hp["workers"])
    counts = {"seen": 0}
    told = {"failure": ""}
    es.track(model, optimizer, loader, counts)

    @es.setup
    def set_up(changed):
        told.update({name: value for name, value in changed.items() if name == "failure"})
        for group in optimizer.param_groups:
            group["lr"] = changed.get("lr", group["lr"])
        loader.batch_size = changed.get("bs", loader.batch_size)

    @es.evaluate
    def measure():
        if told["failure"] == "evaluate":
            raise LookupError("there is no such measure")
        model.eval()
        with no_grad():
            points, labels = next(iter(es.ResumableLoader(Points(), batch_size=SAMPLES)))
            return {"loss": nn.functional.cross_entropy(model(points), labels), "drawn": drawn()}

    for step in es.steps():
        if told["failure"] == "break":
            break
        if told["failure"] == "enough":
            raise es.Finished
        losses = []
        for points, labels in es.batches(loader):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(points + 0.1 * randn(())), labels)
            loss.backward()
            optimizer.step()
            losses.append(float(loss.detach()) * len(labels))
            counts["seen"] += len(labels)
        if told["failure"] != "silence":
            es.report(loss=sum(losses) / counts["seen"], samples=len(losses), drawn=drawn(), step=step)
