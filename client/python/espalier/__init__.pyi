# What type checkers and editors see of the names that __init__.py loads when they are asked for.
from espalier import accelerate as accelerate, export as export, lightning as lightning, optuna as optuna, transformers as transformers
from espalier.client.client import Client as Client, connect as connect
from espalier.client.evaluation import Evaluation as Evaluation
from espalier.client.forecast import Forecast as Forecast
from espalier.client.future import Future as Future, as_completed as as_completed, wait_all as wait_all, wait_any as wait_any
from espalier.client.local_service import Service as Service, up as up
from espalier.client.retry import RetryPolicy as RetryPolicy
from espalier.client.runs import Run as Run
from espalier.client.study import Study as Study
from espalier.client.trial import Trial as Trial
from espalier.client.tuners import ASHA as ASHA, PBT as PBT, SHA as SHA, TPE as TPE, EarlyStop as EarlyStop, GridSearch as GridSearch
from espalier.client.tuners import Hyperband as Hyperband, Median as Median, Random as Random
from espalier.errors import Aborted as Aborted, AlreadyExists as AlreadyExists, Error as Error, FailedPrecondition as FailedPrecondition
from espalier.errors import InvalidArgument as InvalidArgument, NotFound as NotFound, ResourceExhausted as ResourceExhausted
from espalier.errors import TrialCancelled as TrialCancelled, TrialFailed as TrialFailed, Unauthenticated as Unauthenticated
from espalier.errors import Unavailable as Unavailable, WrongVersion as WrongVersion
from espalier.failure import Finished as Finished
from espalier.hyper_parameters import initial as initial, sequence as sequence
from espalier.identity import files as files
from espalier.loaded_once import once as once
from espalier.loader import ResumableLoader as DataLoader, ResumableLoader as ResumableLoader
from espalier.loop_form import batches as batches, evaluate as evaluate, loop as loop, report as report, setup as setup, steps as steps
from espalier.loop_form import track as track
from espalier.progress import heartbeat as heartbeat
from espalier.sequences.families import Constant as Constant, Cooldown as Cooldown, Cosine as Cosine, CyclicLR as CyclicLR, Every as Every
from espalier.sequences.families import Exponential as Exponential, InverseSqrt as InverseSqrt, Linear as Linear, LinearTo as LinearTo
from espalier.sequences.families import MultiStep as MultiStep, OneCycle as OneCycle, OneCyclePhase as OneCyclePhase, Piecewise as Piecewise
from espalier.sequences.families import Polynomial as Polynomial, Scale as Scale, Sinusoid as Sinusoid, Step as Step, Table as Table
from espalier.sequences.families import WSD as WSD, Warmup as Warmup
from espalier.sequences.notation import parse as parse
from espalier.sequences.ranges import Range as Range, choice as choice, integer as integer, loguniform as loguniform, uniform as uniform
from espalier.sequences.sequence import Sequence as Sequence
from espalier.sequences.spaces import Grid as Grid, Space as Space
from espalier.trainer import Trainer as Trainer

__version__: str
