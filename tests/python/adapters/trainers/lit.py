"""LightningModules as users write them, on made-up data: nothing in the classes knows of Espalier."""

import forgetting
import lightning as L
import torch
import torchmetrics
from small import Points, Tied, drawn
from torch import nn
from torch.utils.data import DataLoader, random_split

import espalier as es


class Data(L.LightningDataModule):
    def __init__(self, bs=8, workers=0, dataset=Points):
        super().__init__()
        self.bs, self.workers, self.dataset = bs, workers, dataset
        self.given = 0

    def on_after_batch_transfer(self, batch, dataloader_idx):
        self.given += 1
        return batch

    def setup(self, stage):
        self.train, self.val = random_split(self.dataset(), [48, 12])

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=self.bs, shuffle=True, num_workers=self.workers)

    def val_dataloader(self):
        return DataLoader(self.val, batch_size=5)


class StillPoints(Points):
    def __getitem__(self, index):
        return self.points[index], self.labels[index]


class StillData(Data):
    """In their order, and without anything random."""

    def train_dataloader(self):
        return DataLoader(StillPoints(), batch_size=7)


class Net(L.LightningModule):
    """A counter, a metric, draws from all generators, and values that are logged."""

    def __init__(self, lr=0.05, optimizer="Adam", dropout=0.2, smoothing=0.0):
        super().__init__()
        self.save_hyperparameters()
        self.net = Tied(dropout)
        self.accuracy = torchmetrics.Accuracy(task="binary")
        self.val_accuracy = torchmetrics.Accuracy(task="binary")
        self.seen, self.best, self.outputs = 0, 0.0, []

    def loss(self, batch):
        points, labels = batch
        logits = self.net(points)
        return nn.functional.cross_entropy(logits, labels, label_smoothing=self.hparams.smoothing), logits.argmax(dim=1), labels

    def training_step(self, batch, batch_idx):
        self.seen += len(batch[0])
        noise = 0.1 * drawn() if self.hparams.dropout else 0.0
        loss, predicted, labels = self.loss((batch[0] + noise, batch[1]))
        self.accuracy(predicted, labels)
        self.log("acc", self.accuracy, on_step=False, on_epoch=True)
        last = self.trainer.callback_metrics.get("train_loss", 0.0)
        self.log_dict({"train_loss": loss, "seen": float(self.seen), "index": float(batch_idx), "last": last}, on_step=False, on_epoch=True)
        return loss

    def on_train_epoch_end(self):
        self.best = max(self.best, float(self.trainer.callback_metrics["acc"]) + float(self.trainer.callback_metrics["train_loss"]))

    def validation_step(self, batch, batch_idx):
        loss, predicted, labels = self.loss(batch)
        self.val_accuracy(predicted, labels)
        self.outputs.append(predicted)
        self.log("val_acc", self.val_accuracy)
        self.log("val_loss", loss + 0.01 * drawn())
        self.log("best", self.best)

    def on_validation_epoch_end(self):
        self.log("positive", torch.cat(self.outputs).float().mean())
        self.outputs.clear()

    def configure_optimizers(self):
        return getattr(torch.optim, self.hparams.optimizer)(self.parameters(), lr=self.hparams.lr)


class Scheduled(Net):
    """A scheduler for updates, and one for epochs that looks at what training logged."""

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=self.hparams.lr, momentum=0.9, weight_decay=0.01)
        cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, threshold=0.5)
        return [optimizer], [{"scheduler": cosine, "interval": "step"}, {"scheduler": plateau, "monitor": "train_loss"}]


class ByHand(Net):
    """Two optimizers, manual optimization."""

    def __init__(self, lr=0.05, dropout=0.2):
        super().__init__(lr, dropout=dropout)
        self.automatic_optimization = False
        self.critic = nn.Linear(2, 1)

    def training_step(self, batch, batch_idx):
        first, second = self.optimizers()
        points, labels = batch
        with first.toggle_model():
            loss = nn.functional.cross_entropy(self.net(points), labels) + 0.1 * self.critic(self.net(points)).mean()
            first.zero_grad()
            self.manual_backward(loss)
            self.clip_gradients(first, gradient_clip_val=0.5, gradient_clip_algorithm="norm")
            first.step()
        critic_loss = (self.critic(self.net(points).detach()).squeeze(1) - labels).square().mean()
        second.zero_grad()
        self.manual_backward(critic_loss)
        second.step()
        if self.trainer.is_last_batch:
            self.lr_schedulers().step()
        self.log_dict({"loss": loss + critic_loss, "acc": critic_loss, "train_loss": loss, "steps": float(self.global_step)}, on_step=False, on_epoch=True)

    def configure_optimizers(self):
        optimizers = [torch.optim.Adam(self.net.parameters(), lr=self.hparams.lr), torch.optim.SGD(self.critic.parameters(), lr=0.1)]
        return optimizers, [torch.optim.lr_scheduler.ExponentialLR(optimizers[1], 0.5)]


KINDS = {each.__name__: each for each in (Net, Scheduled, ByHand)}


def make(kind, forget, lr, optimizer):
    """One trainer for all kinds, so that one process can train all: they take long to start."""
    forgetting.forget(forget)
    options = {"optimizer": optimizer} if kind == "Net" else {}
    return KINDS[kind](lr, **options)


INITIAL = {"kind": es.initial(str, default="Net"), "optimizer": es.initial(str, default="Adam"), "forget": es.initial(str, default=""),
           "workers": es.initial(int, default=0)}  # fmt: skip
SEQUENCES = {"bs": es.sequence(int, default=8)}

Any = es.lightning.trainer(make, Data, hyper_parameters={**INITIAL, **SEQUENCES, "lr": es.sequence(float, default=0.05)})
AtFixedRate = es.lightning.trainer(make, Data, accumulate_grad_batches=2, gradient_clip_val=0.5,
                                   hyper_parameters={**INITIAL, **SEQUENCES, "lr": es.initial(float, default=0.05)})  # fmt: skip
