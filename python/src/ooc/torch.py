"""Data for training with PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch  # type: ignore[import-not-found]
from torch.utils.data import (  # type: ignore[import-not-found]
    IterableDataset,
    get_worker_info,
)

from ._errors import UsageError
from ._arguments import integer
from ._stream import Chunk, stream

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import Options
    from ._stream import Streamed


class Chunks(IterableDataset[Any]):  # type: ignore[misc]
    """The rows of arrays, chunk by chunk, as tensors on the device.

    Each chunk is a batch, so a DataLoader neither makes batches nor needs workers:

        data = ooc.torch.Chunks("images.npy", rows=256, seed=0)
        for epoch in range(10):
            data.set_epoch(epoch)
            for batch in torch.utils.data.DataLoader(data, batch_size=None):
                ...

    rows: of a batch; the last one may have fewer.
    seed: shuffles the batches of each epoch; rows within a batch keep their order. None: no
    shuffling.
    shard: (i, n): every n-th batch from number i on. Default: the rank and number of processes of
    torch.distributed, if that is initialised.

    Of arrays that are zipped, a batch is a tuple of tensors. A tensor is the loop's own until it is
    gone; work on it is ordered with the stream that was current when it was made.
    """

    def __init__(self, x: Streamed, *, rows: int, seed: int | None = None,
                 shard: tuple[int, int] | None = None, ahead: int | None = None,
                 **given: Unpack[Options]) -> None:
        super().__init__()
        self._x = x
        self._rows = integer(rows, "rows", least=1)
        self._seed = None if seed is None else integer(seed, "seed")
        self._shard = shard
        self._ahead = ahead
        self._given = given
        self._epoch = 0
        self._start = 0  # batches that the next loop leaves out
        self._taken = 0  # batches of this epoch

    def set_epoch(self, epoch: int) -> None:
        """Sets the number of the next epoch: each has an order of its own."""
        if epoch != self._epoch:
            self._start = self._taken = 0
        self._epoch = integer(epoch, "epoch")

    def __iter__(self) -> Iterator[Any]:
        if get_worker_info() is not None:
            raise UsageError("the batches are read ahead by this process",
                             hint="DataLoader(data, batch_size=None, num_workers=0)")
        self._taken, self._start = self._start, 0
        chunks = stream(self._x, rows=self._rows, ahead=self._ahead, shuffle=self._order(),
                        shard=self._shard or _rank(), start=self._taken, **self._given)
        with chunks:
            for chunk in chunks:
                self._taken += 1
                is_one = isinstance(chunk, Chunk)
                yield torch.from_dlpack(chunk) if is_one else tuple(map(torch.from_dlpack, chunk))
        self._taken = 0

    def _order(self) -> int | None:
        # Epochs of one seed have seeds that differ; multiples of this number are spread evenly.
        return None if self._seed is None else (
            self._seed * 0x9E3779B97F4A7C15 + self._epoch) % (1 << 63)

    def state_dict(self) -> dict[str, int]:
        """Returns the place in the data: the epoch, and the batches of it that were taken."""
        return {"epoch": self._epoch, "taken": self._taken}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Goes on at a place that state_dict() returned for the same arguments."""
        self._epoch = integer(state["epoch"], "epoch")
        self._start = self._taken = integer(state["taken"], "taken")


def _rank() -> tuple[int, int]:
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return 0, 1
