"""A LightningModule and a LightningDataModule as a trainer, unchanged: `Digits = espalier.lightning.trainer(DigitsModule, DigitsData, ...)`.

Espalier drives the module's hooks itself, in Lightning's order, with its own loader in the place of PyTorch's. Lightning's Trainer, its
callbacks, and its way to go on from a checkpoint are not used."""

from espalier.lightning.declare import trainer

__all__ = ["trainer"]
