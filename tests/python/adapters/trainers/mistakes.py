"""What Lightning's users get wrong, and what no study could make exact. One trainer; `mistake` says which."""

import importlib

import lightning as L
import torch
from lit import Data, Net
from mistaken_data import LOADERS

import espalier as es

AT_THE_TOP = torch.Generator().manual_seed(1)


class Mistaken(Net):
    def __init__(self, mistake, lr):
        super().__init__(lr)
        self.mistake = mistake
        self.generator = torch.Generator().manual_seed(3)
        self.scale = torch.ones(2)

    def configure_callbacks(self):
        return [L.pytorch.callbacks.EarlyStopping("val_loss"), L.pytorch.callbacks.ModelCheckpoint()]

    def on_fit_start(self):
        if self.mistake == "max_epochs":
            print(self.trainer.max_epochs)

    def training_step(self, batch, batch_idx):
        points, labels = batch
        if self.mistake == "late import":
            importlib.import_module("lazy_hidden")
        if self.mistake == "global generator":
            points = points + torch.rand((), generator=AT_THE_TOP)
        if self.mistake == "untracked things":
            self.scale.add_(torch.rand((), generator=self.generator))
            self.second.zero_grad()
            (self.other * points.mean()).sum().backward()
            self.second.step()
            points = points * self.scale.mean() + self.other.detach()
        if self.mistake == "data changed by training":
            self.trainer.datamodule.train.dataset.points.mul_(0.99)
        if self.mistake == "should_stop":
            self.trainer.should_stop = True
        return super().training_step((points, labels), batch_idx)

    def on_train_batch_start(self, batch, batch_idx):
        if self.mistake == "rebuilt loader" and batch_idx % 2:
            next(iter(self.trainer.datamodule.train_dataloader()))
        return -1 if self.mistake == "skipped epoch" else None

    def configure_optimizers(self):
        if self.mistake == "untracked things":
            self.other = torch.nn.Parameter(torch.ones(4))
            self.second = torch.optim.Adam([self.other], lr=0.1)
        optimizer = super().configure_optimizers()
        if self.mistake == "scheduler":
            return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)]
        if self.mistake == "plateau":
            plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
            return {"optimizer": optimizer, "lr_scheduler": {"scheduler": plateau, "monitor": "val_loss"}}
        return optimizer


class MistakenData(Data):
    def __init__(self, mistake, bs=8, workers=0):
        super().__init__(bs, workers)
        self.mistake = mistake

    def train_dataloader(self):
        return LOADERS[self.mistake](self.workers) if self.mistake in LOADERS else super().train_dataloader()


INITIAL = {"mistake": es.initial(str, default=""), "workers": es.initial(int, default=0)}

Trainer = es.lightning.trainer(Mistaken, MistakenData, max_epochs=3, callbacks=L.pytorch.callbacks.EarlyStopping("val_loss"),
                               hyper_parameters={**INITIAL, "bs": es.sequence(int, default=8), "lr": es.sequence(float, default=0.05)})  # fmt: skip
