"""Loaders, without a worker around them."""

import contextlib
import inspect
import multiprocessing
import os
import signal
import unittest
import unittest.mock

import torch
from torch.utils.data import Dataset, IterableDataset, TensorDataset, WeightedRandomSampler
from torch.utils.data._utils import signal_handling
from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter

import espalier as es
from espalier import loaders
from espalier.failure import TrainerError
from espalier.loader import batches


class Drawing(Dataset):
    """Each sample is a draw."""

    def __len__(self):
        return 10

    def __getitem__(self, index):
        return torch.rand(())


class Killing(Drawing):
    def __getitem__(self, index):
        if index == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(index)


@contextlib.contextmanager
def first_loader_of_its_process(kills):
    """PyTorch watches the processes of a process's first loader by signals. Kills one of them before it is given anything to do."""
    handler = signal.getsignal(signal.SIGCHLD)
    give = _MultiProcessingDataLoaderIter._reset

    def kill_and_give(iterator, loader, first_iter=False):
        nonlocal kills
        if kills:
            kills = False
            iterator._workers[0].kill()
            os.waitid(os.P_PID, iterator._workers[0].pid, os.WEXITED | os.WNOWAIT)
        give(iterator, loader, first_iter)

    signal_handling._SIGCHLD_handler_set = False
    try:
        with unittest.mock.patch.object(_MultiProcessingDataLoaderIter, "_reset", kill_and_give):
            yield
    finally:
        assert signal.getsignal(signal.SIGCHLD) is handler


def numbers(count=10):
    return TensorDataset(torch.arange(count))


def flat(given):
    return [batch[0].tolist() for batch in given]


class LoaderTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        loaders.begin()

    def test_an_epoch_has_every_sample_once_and_the_next_another_order(self):
        loader = es.ResumableLoader(numbers(), batch_size=4, shuffle=True)
        first, second = flat(loader), flat(loader)
        self.assertEqual([len(batch) for batch in first], [4, 4, 2])
        self.assertEqual(sorted(sum(first, [])), list(range(10)))
        self.assertNotEqual(first, second)

    def test_a_loader_that_is_left_goes_on_where_it_was(self):
        loader = es.ResumableLoader(numbers(), batch_size=4)
        self.assertEqual(next(iter(loader))[0].tolist(), [0, 1, 2, 3])
        self.assertEqual(flat(loader), [[4, 5, 6, 7], [8, 9]])

    def test_a_batch_size_holds_from_the_next_batch_also_with_loader_workers_that_fetch_ahead(self):
        for workers in [0, 2]:
            loader = es.ResumableLoader(numbers(), batch_size=2, num_workers=workers)
            given = []
            for batch in loader:
                given.append(batch[0].tolist())
                loader.batch_size = 3
            self.assertEqual(given, [[0, 1], [2, 3, 4], [5, 6, 7], [8, 9]])

    def test_loader_workers_and_how_far_they_fetch_ahead_change_no_draw_here_or_there(self):
        settings = [{}, {"num_workers": 1}, {"num_workers": 2, "prefetch_factor": 4}]
        drawn = []
        for each in settings:
            torch.manual_seed(1)
            loaders.begin()
            epochs = [torch.cat(list(es.ResumableLoader(Drawing(), batch_size=4, **each))) for _ in range(2)]
            drawn.append([epoch.tolist() for epoch in epochs])
            self.assertEqual(torch.rand(()), torch.rand((), generator=torch.Generator().manual_seed(1)))
        self.assertEqual(drawn[0], drawn[1])
        self.assertEqual(drawn[0], drawn[2])

    def test_a_loaders_process_that_is_killed_changes_no_draw(self):
        for moment in [0, 1, 3]:  # of batches that were taken: before the first one there are no processes
            drawn = []
            for kills in [False, True]:
                torch.manual_seed(1)
                loaders.begin()
                batches = []
                for batch in es.ResumableLoader(Drawing(), batch_size=2, num_workers=2, prefetch_factor=1):
                    if kills and len(batches) == moment:
                        os.kill(multiprocessing.active_children()[0].pid, signal.SIGKILL)
                    batches.append(batch)
                drawn.append(torch.cat(batches).tolist())
            self.assertEqual(drawn[0], drawn[1])

    def test_a_loaders_process_that_is_killed_while_the_others_begin_changes_no_draw(self):
        drawn = []
        for kills in [False, True]:
            torch.manual_seed(1)
            loaders.begin()
            with first_loader_of_its_process(kills):
                drawn.append(torch.cat(list(es.ResumableLoader(Drawing(), batch_size=2, num_workers=2))).tolist())
        self.assertEqual(drawn[0], drawn[1])

    def test_data_that_kills_whoever_loads_it_is_the_trainers_error(self):
        with self.assertRaisesRegex(TrainerError, "processes that load Killing died 3 times in epoch 0 at sample 4"):
            list(es.ResumableLoader(Killing(), batch_size=2, num_workers=1))

    def test_the_batch_size_changes_no_draw_of_a_sample(self):
        drawn = []
        for batch_size in [3, 10]:
            loaders.begin()
            drawn.append(torch.cat(list(es.ResumableLoader(Drawing(), batch_size=batch_size))).tolist())
        self.assertEqual(drawn[0], drawn[1])

    def test_a_dropped_rest_ends_the_epoch(self):
        loader = es.ResumableLoader(numbers(), batch_size=4, drop_last=True)
        self.assertEqual(flat(loader), [[0, 1, 2, 3], [4, 5, 6, 7]])
        self.assertEqual(len(loader), 2)
        self.assertEqual(len(flat(loader)), 2)

    def test_updates_run_over_the_ends_of_epochs_and_batches_do_not(self):
        loader = es.ResumableLoader(numbers(), batch_size=4)
        self.assertEqual(flat(batches(loader, 4)), [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9], [0, 1, 2, 3]])
        self.assertEqual(flat(batches(loader, None)), [[4, 5, 6, 7], [8, 9]])

    def test_an_update_may_have_several_batches_and_ends_with_the_epoch(self):
        loader = es.ResumableLoader(numbers(), batch_size=2)
        loader.batches_an_update = 3
        given = [(batch[0].tolist(), loader.ends_update) for batch in batches(loader, 3)]
        self.assertEqual([ends for _, ends in given], [False, False, True, False, True, False, False, True])
        self.assertEqual([batch for batch, ends in given if ends], [[4, 5], [8, 9], [4, 5]])

    def test_an_evaluation_that_reads_part_of_an_update_leaves_no_trace(self):
        loader = es.ResumableLoader(numbers(), batch_size=2)
        loader.batches_an_update = 3
        with loaders.put_back():
            next(iter(loader))
        self.assertEqual(flat(batches(loader, 1)), [[0, 1], [2, 3], [4, 5]])

    def test_data_without_a_single_batch_is_refused(self):
        loader = es.ResumableLoader(numbers(), batch_size=11, drop_last=True)
        with self.assertRaisesRegex(TrainerError, "TensorDataset has no batch of 11"):
            list(batches(loader, 1))

    def test_order_and_place_are_taken_up_by_another_loader(self):
        loader = es.ResumableLoader(numbers(), batch_size=3, shuffle=True)
        next(iter(loader))
        other = es.ResumableLoader(numbers(), batch_size=3, shuffle=True)
        other.load_state_dict(loader.state_dict())
        self.assertEqual(flat(other), flat(loader))
        self.assertEqual(flat(other), flat(loader))

    def test_a_sampler_keeps_what_its_generator_has_come_to(self):
        def make():
            sampler = WeightedRandomSampler([1.0] * 10, 10, generator=torch.Generator().manual_seed(3))
            return es.ResumableLoader(numbers(), batch_size=5, sampler=sampler)

        loader, other = make(), make()
        list(loader)
        other.load_state_dict(loader.state_dict())
        self.assertEqual(flat(other), flat(loader))

    def test_a_loader_built_after_init_replaces_the_one_over_the_same_data_set(self):
        data = numbers()
        loader = es.DataLoader(data, batch_size=4, shuffle=True)
        loaders.end_init()
        first = next(iter(loader))[0].tolist()
        rest = flat(es.DataLoader(data, batch_size=3, shuffle=True))
        self.assertEqual(sorted(first + sum(rest, [])), list(range(10)))
        self.assertEqual(flat(es.DataLoader(data, batch_size=10))[0], list(range(10)))

    def test_a_loader_that_could_replace_two_is_refused(self):
        data = numbers()
        kept = [es.DataLoader(data), es.DataLoader(data)]
        loaders.end_init()
        with self.assertRaisesRegex(TrainerError, "2 loaders over this TensorDataset"):
            es.DataLoader(data)
        del kept

    def test_two_loaders_over_as_many_samples_have_different_orders(self):
        self.assertNotEqual(*(flat(es.ResumableLoader(numbers(), batch_size=10, shuffle=True)) for _ in range(2)))

    def test_an_evaluation_reads_data_from_the_beginning_and_leaves_the_place(self):
        loader = es.ResumableLoader(numbers(), batch_size=4)
        next(iter(loader))
        for _ in range(2):
            with loaders.put_back():
                self.assertEqual(flat(loader)[0], [0, 1, 2, 3])
        self.assertEqual(flat(loader)[0], [4, 5, 6, 7])

    def test_what_has_no_length_and_no_state_is_refused_by_name(self):
        class Endless(IterableDataset):
            def __iter__(self):
                return iter(range(3))

        class Endings:
            def __iter__(self):
                return iter(range(3))

        with self.assertRaisesRegex(TrainerError, "Endless has no length, and no state_dict"):
            es.ResumableLoader(Endless())
        with self.assertRaisesRegex(TrainerError, "Endings has no length, and no state_dict"):
            es.ResumableLoader(numbers(), sampler=Endings())
        Endless.state_dict = Endless.load_state_dict = lambda self, *_: {}
        with self.assertRaisesRegex(TrainerError, "num_workers=0, not 2"):
            es.ResumableLoader(Endless(), num_workers=2)

    def test_what_pytorchs_loader_takes_and_this_one_does_not_is_refused_by_name_with_what_to_do_instead(self):
        for name, value, remedy in [("batch_sampler", [[0]], "give sampler=..., and batch_size=..."), ("generator", torch.Generator(), "the hyper-parameter seed"),
                                    ("worker_init_fn", print, "prepare the data set in its __getitem__"), ("persistent_workers", True, "leave it out"),
                                    ("timeout", 5, "hang_after"), ("multiprocessing_context", "spawn", "forked"), ("in_order", False, "leave it out"),
                                    ("pin_memory_device", "cuda", "leave it out")]:  # fmt: skip
            with self.subTest(name), self.assertRaisesRegex(TrainerError, rf"^DataLoader\({name}=\.\.\.\): .*{remedy}"):
                es.DataLoader(numbers(), **{name: value})
        with self.assertRaisesRegex(TypeError, "no argument 'suffle'"):
            es.DataLoader(numbers(), suffle=True)

    def test_pytorchs_defaults_say_nothing_and_no_argument_of_its_own_is_forgotten(self):
        theirs = {name: each.default for name, each in inspect.signature(torch.utils.data.DataLoader).parameters.items()}
        del theirs["dataset"]
        loader = es.DataLoader(numbers(), **theirs)
        self.assertEqual([len(batch[0]) for batch in loader], [1] * 10)

    def test_a_batch_size_that_is_none_is_refused(self):
        for batch_size in [0, -1, 2.0, True, None]:
            with self.assertRaisesRegex(ValueError, "batch size"):
                es.ResumableLoader(numbers(), batch_size=batch_size)

    def test_a_loader_of_pytorchs_own_gives_no_steps(self):
        with self.assertRaisesRegex(TrainerError, "DataLoader is no loader of espalier"):
            list(batches(torch.utils.data.DataLoader(numbers()), 1))
