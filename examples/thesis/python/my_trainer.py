"""Figure 5.1: a trainer of one's own, whose learning rate and batch size may change on the way. It learns to read handwritten digits."""

import pathlib

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import TensorDataset

from espalier import DataLoader, Trainer, files, sequence

DIGITS = pathlib.Path(__file__).with_name("digits.csv")


class MyTrainer(Trainer):
    hyper_parameters = {"lr": sequence(float, default=0.1), "bs": sequence(int, default=128)}
    metrics = ["test_acc"]
    data = files("digits.csv")

    def init(self, hp):
        rows = torch.tensor([[int(number) for number in line.split(",")] for line in DIGITS.read_text().splitlines()])
        images, labels, is_test = rows[:, :64] / 16, rows[:, 64], torch.arange(len(rows)) % 5 == 4
        self.train_dataset = TensorDataset(images[~is_test], labels[~is_test])
        self.test_images, self.test_labels = images[is_test], labels[is_test]
        self.model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=hp["lr"])
        self.train_loader = DataLoader(self.train_dataset, batch_size=hp["bs"], shuffle=True)
        self.track(self.model, self.optimizer, self.train_loader)

    def setup(self, hp):
        # hp is a dictionary of updated values
        if "lr" in hp:
            for group in self.optimizer.param_groups:
                group["lr"] = hp["lr"]
        if "bs" in hp:
            if self.train_loader:
                del self.train_loader
            self.train_loader = DataLoader(
                self.train_dataset,
                batch_size=hp["bs"],
                shuffle=True,
            )

    def train(self):
        loss_sum, samples = 0.0, 0
        for images, labels in self.batches(self.train_loader):
            loss = functional.cross_entropy(self.model(images), labels)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            loss_sum, samples = loss_sum + loss.item() * len(labels), samples + len(labels)
        return {"loss": loss_sum / samples, "samples": samples}

    def evaluate(self):
        with torch.no_grad():
            right = self.model(self.test_images).argmax(dim=1) == self.test_labels
        return {"test_acc": right.float().mean().item()}
