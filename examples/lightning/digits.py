"""Reads handwritten digits of 8 by 8 pixels, with Lightning. Nothing here knows of Espalier."""

import pathlib

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

DIGITS = pathlib.Path(__file__).with_name("digits.csv")


class DigitsData(L.LightningDataModule):
    def __init__(self, batch_size=32):
        super().__init__()
        self.batch_size = batch_size

    def setup(self, stage):
        """Every fifth image is for validation."""
        rows = torch.tensor([[int(number) for number in line.split(",")] for line in DIGITS.read_text().splitlines()])
        images, labels = rows[:, :64] / 16, rows[:, 64]
        held_out = torch.arange(len(rows)) % 5 == 4
        self.train_set, self.val_set = (TensorDataset(images[which], labels[which]) for which in (~held_out, held_out))

    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=self.batch_size, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val_set, batch_size=128)


class DigitsModule(L.LightningModule):
    def __init__(self, lr=0.05, width=64, dropout=0.2):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(64, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(dropout), nn.Linear(width, 10))

    def training_step(self, batch, batch_idx):
        images, labels = batch
        loss = nn.functional.cross_entropy(self.net(images), labels)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        images, labels = batch
        self.log("val_acc", (self.net(images).argmax(dim=1) == labels).float().mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.hparams.lr, momentum=0.9)


if __name__ == "__main__":
    L.Trainer(max_epochs=20, gradient_clip_val=1.0).fit(DigitsModule(), DigitsData())
