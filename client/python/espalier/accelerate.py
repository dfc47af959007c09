"""accelerate's Accelerator, for scripts in the loop form: `from espalier.accelerate import Accelerator` in the place of accelerate's.

`prepare` makes Espalier's loaders of PyTorch's; what it gives is tracked as any other object: es.track(model, optimizer, loader, scheduler).
One process and full precision. accelerate's own way to go on from a checkpoint is not used."""

import accelerate
from accelerate.state import AcceleratorState, GradientState
from accelerate.utils import send_to_device
from torch.utils.data import DataLoader

from espalier.adapted_loader import AdaptedLoader, adapted
from espalier.failure import TrainerError
from espalier.loader import ResumableLoader
from espalier.loop_form import track
from espalier.said import say_once


class Accelerator(accelerate.Accelerator):
    """Arguments are accelerate's. Raises TrainerError for what could not be made exact."""

    def __init__(self, *arguments, **named):
        AcceleratorState._reset_state(reset_partial_state=True)  # the process may have trained with other settings before
        GradientState._reset_state()
        super().__init__(*arguments, **named)
        self._registered = 0
        if self.mixed_precision != "no":
            raise TrainerError(f"Accelerator(mixed_precision={self.mixed_precision!r}): under Espalier it is 'no'")
        if self.num_processes > 1:
            raise TrainerError(f"Accelerator: {self.num_processes} processes train together; under Espalier one does")
        if not self.gradient_state.sync_with_dataloader:
            raise TrainerError("GradientAccumulationPlugin(sync_with_dataloader=False): under Espalier an update ends with an epoch")

    def prepare(self, *objects, device_placement=None):
        objects = [self.prepare_data_loader(each) if isinstance(each, (DataLoader, ResumableLoader)) else each for each in objects]
        return super().prepare(*objects, device_placement=device_placement)

    def prepare_data_loader(self, data_loader, device_placement=None, slice_fn_for_dispatch=None):
        if isinstance(data_loader, PreparedLoader):
            return data_loader
        is_placed = self.device_placement if device_placement is None else device_placement
        return adapted(data_loader, "prepare()", PreparedLoader, gradient_state=self.gradient_state, device=self.device if is_placed else None)

    def register_for_checkpointing(self, *objects):
        """What a script would save by itself is state."""
        for each in objects:
            self._registered += 1
            track(**{f"registered_for_checkpointing_{self._registered}": each})

    def save_state(self, *_, **__):
        say_once("Accelerator.save_state(): without effect here; what is saved is up to the study")

    def load_state(self, *_, **__):
        raise TrainerError("Accelerator.load_state(): a training goes on by itself; leave it out")

    def skip_first_batches(self, *_, **__):
        raise TrainerError("Accelerator.skip_first_batches(): a loader goes on where it was; leave it out")


class PreparedLoader(AdaptedLoader):
    """Puts batches on the device, and tells accelerate where an update ends."""

    remainder = 0  # samples that fill up a batch of several processes

    def __init__(self, *arguments, gradient_state, device, **named):
        super().__init__(*arguments, **named)
        self._gradient_state, self._device = gradient_state, device

    @property
    def batches_an_update(self):
        return self._gradient_state.num_steps

    @property
    def end_of_dataloader(self):
        return self.ends_update

    def __iter__(self):
        self._gradient_state._add_dataloader(self)
        try:
            for batch in super().__iter__():
                yield batch if self._device is None else send_to_device(batch, self._device)
        finally:
            self._gradient_state._remove_dataloader(self)
