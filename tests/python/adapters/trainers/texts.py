"""A transformers.Trainer as users write it, with a model of some hundred parameters, made from its configuration."""

import importlib

import forgetting
import torch
import transformers
from small import drawn
from torch.utils.data import Dataset, IterableDataset

import espalier as es

AT_THE_TOP = torch.Generator().manual_seed(1)


class Texts(Dataset):
    """Sequences of tokens, one of them replaced at random whenever they are read; the label is whether they hold more of one half."""

    def __init__(self, count=40, is_noisy=True):
        generator = torch.Generator().manual_seed(7)
        self.tokens = torch.randint(2, 20, (count, 6), generator=generator)
        self.is_noisy = is_noisy

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        tokens = self.tokens[index].clone()
        label = int((tokens > 10).sum() > 3)
        if self.is_noisy:
            tokens[int(6 * torch.rand(()))] = 2 + int(5 * abs(drawn()))
        return {"input_ids": tokens, "labels": label, "unused": 1}


class OwnGenerator(Texts):
    def __init__(self):
        super().__init__()
        self.generator = torch.Generator().manual_seed(3)

    def __getitem__(self, index):
        torch.rand((), generator=self.generator)
        return super().__getitem__(index)


class ChangingItself(Texts):
    def __getitem__(self, index):
        self.tokens[index].sub_(1).clamp_(min=2)
        return super().__getitem__(index)


class Stream(IterableDataset):
    def __iter__(self):
        return iter(Texts())


def model(dropout=0.1):
    return transformers.BertForSequenceClassification(transformers.BertConfig(
        vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, max_position_embeddings=6, num_labels=2,
        hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout))  # fmt: skip


class Counting(transformers.Trainer):
    """State that nobody tracks: a counter, a buffer that is a plain attribute, a generator."""

    seen = 0

    def __init__(self, *arguments, mistake="", **named):
        super().__init__(*arguments, **named)
        self.mistake = mistake
        self.scale = torch.ones(1)
        self.generator = torch.Generator().manual_seed(3)
        if mistake == "untracked optimizer":
            self.other = torch.nn.Parameter(torch.ones(4))
            self.other_optimizer = torch.optim.Adam([self.other], lr=0.1)

    def compute_loss(self, model, inputs, **named):
        loss = super().compute_loss(model, inputs, **named)
        if not model.training:
            return loss
        self.seen += len(inputs["labels"])
        self.scale.mul_(1.01)
        if self.mistake == "untracked optimizer":
            self.other_optimizer.zero_grad()
            (self.other - inputs["labels"].float().mean()).square().sum().backward()
            self.other_optimizer.step()
            loss = loss * (1 + self.other.detach().mean())
        if self.mistake == "rebuilt loader":
            next(iter(self.get_train_dataloader()))
        if self.mistake == "data changed by training":
            self.train_dataset.tokens.sub_(1).clamp_(min=2)
        if self.mistake == "late import":
            importlib.import_module("lazy_hidden")
        if self.mistake == "global generator":
            loss = loss * torch.rand((), generator=AT_THE_TOP)
        noise = 0.1 * torch.rand((), generator=self.generator) + 0.01 * drawn()
        return loss * (1 + noise + self.state.epoch + self.seen / 1000) * self.scale.mean()


def accuracy(predictions):
    return {"accuracy": float((predictions.predictions.argmax(axis=1) == predictions.label_ids).mean())}


def make(hp, **named):
    forgetting.forget(hp["forget"])
    arguments = {**{name: value for name, value in hp.items() if name not in ("forget", "workers", "mistake")}, **MISTAKES.get(hp["mistake"], {}), **named}
    if not hp["workers"]:
        arguments.pop("dataloader_persistent_workers", None)  # there are none to persist
    given = {name: arguments.pop(name) for name in ("callbacks", "train_dataset") if name in arguments}
    arguments = transformers.TrainingArguments(output_dir="unused", use_cpu=not torch.cuda.is_available(), report_to="none", disable_tqdm=True, num_train_epochs=4,
                                               dataloader_num_workers=hp["workers"], **arguments)  # fmt: skip
    return Counting(model=model(), args=arguments, eval_dataset=Texts(12), compute_metrics=accuracy, mistake=hp["mistake"],
                    **{"train_dataset": Texts(), **given})  # fmt: skip


class Watching(transformers.TrainerCallback):
    pass


MISTAKES = {
    "precision": {"bf16": True},
    "scheduler": {"lr_scheduler_type": "cosine"},
    "iterable": {"train_dataset": Stream(), "max_steps": 5},
    "own generator": {"train_dataset": OwnGenerator()},
    "data that changes itself": {"train_dataset": ChangingItself()},
    "callback": {"callbacks": [Watching()]},
    "persistent workers": {"dataloader_persistent_workers": True},
    "early stopping": {"callbacks": [transformers.EarlyStoppingCallback()], "eval_strategy": "epoch", "load_best_model_at_end": True,
                       "save_strategy": "epoch", "metric_for_best_model": "accuracy"},
}  # fmt: skip
INITIAL = {"workers": es.initial(int, default=0), "forget": es.initial(str, default=""), "mistake": es.initial(str, default=""),
           "gradient_accumulation_steps": es.initial(int, default=1)}  # fmt: skip
SEQUENCES = {"learning_rate": es.sequence(float, default=0.01), "weight_decay": es.sequence(float, default=0.01),
             "per_device_train_batch_size": es.sequence(int, default=4), "max_grad_norm": es.sequence(float, default=1.0)}  # fmt: skip


@es.transformers.trainer(hyper_parameters={**INITIAL, **SEQUENCES}, metrics=["eval_accuracy"])
def texts(hp):
    return make(hp, **({} if hp["mistake"] == "scheduler" else {"lr_scheduler_type": "constant"}))


@es.transformers.trainer(hyper_parameters={**INITIAL, "learning_rate": es.initial(float, default=0.01)}, metrics=["eval_accuracy"])
def scheduled(hp):
    return make(hp, warmup_steps=4, lr_scheduler_type="cosine")
