"""What saving and loading take beside what the training itself holds."""

import pathlib

import process_memory
from cuts import CutsTest, Trial, begin

WIDE = pathlib.Path(__file__).resolve().parents[2] / "bench" / "wide_mlp.py:Wide"
STATES = 1.2  # the snapshot, and what is on its way to the file
SLACK = 32 << 20  # of what the interpreter and the allocator keep
KEPT = {"GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=1073741824"}  # as node managers ask


class MemoryTest(CutsTest):
    def test_what_an_earlier_training_let_go_is_no_memory_of_the_next(self):
        worker = self.worker(WIDE, KEPT, is_copy=False)
        begin(worker, Trial({"hidden": 3600}, updates=1))
        worker.train()
        most = process_memory.peak(worker.process.pid)
        begin(worker, Trial({"hidden": 64}, updates=1))
        worker.train()
        self.assertLess(process_memory.peak(worker.process.pid), most - 100e6)

    def test_saving_and_loading_a_large_state_take_the_room_of_one_snapshot(self):
        worker = self.worker(WIDE)
        trial = Trial({"hidden": 3600}, updates=1)
        begin(worker, trial)
        worker.train()
        worker.train()
        before = process_memory.resident(worker.process.pid)
        process_memory.forget_peak(worker.process.pid)
        saves = [worker.begin_save(self.folder / name) for name in ("first", "second")]  # one is asked for while the other is written
        byte_count = [worker.answer(each)["bytes"] for each in saves][0]
        self.assertGreater(byte_count, 100e6)
        self.assertLess(process_memory.peak(worker.process.pid) - before, STATES * byte_count + SLACK)

        other = self.worker(WIDE)
        begin(other, trial)
        process_memory.forget_peak(other.process.pid)
        other.load(self.folder / "first", 2)
        taken = process_memory.peak(other.process.pid) - process_memory.resident(other.process.pid)
        self.assertLess(taken, STATES * byte_count + SLACK)
