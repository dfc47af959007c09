"""The trainer that digits.py becomes, its classes unchanged."""

from digits import DigitsData, DigitsModule

import espalier as es

Digits = es.lightning.trainer(
    DigitsModule,
    DigitsData,
    hyper_parameters={
        "lr": es.sequence(float, default=0.05),
        "batch_size": es.sequence(int, default=32),
        "width": es.initial(int, default=64),
    },
    metrics=["val_acc"],
    data=es.files("digits.csv"),
    gradient_clip_val=1.0,
    max_epochs=20,
)
