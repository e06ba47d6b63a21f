"""Later: conditions on a device that the host checks once instead of every time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from robgui.core.devices import Passenger
from robgui.core.errors import ModelError


class Later:
    """Collects conditions on the device; the next read brings the outcome to the host."""

    def __init__(self) -> None:
        self._taking = False
        self._asked: list[Passenger] = []
        self._sums: dict[torch.Size, Tensor] | None = None

    @contextmanager
    def on(self, taking: bool) -> Iterator[None]:
        """Collects conditions while entered, if ``taking``."""
        # Restored, not reset: these blocks nest.
        before, self._taking = self._taking, taking
        try:
            yield
        finally:
            self._taking = before
            for asked in self._asked:
                asked.arrive(True)  # The question was withdrawn.
            self._asked.clear()

    @contextmanager
    def together(self, name: str) -> Iterator[None]:
        """Checks all scores of ``name`` that come while entered at the end, with one question."""
        before, self._sums = self._sums, {}
        try:
            yield
            sums = list(self._sums.values())
        finally:
            self._sums = before
        for each in sums:
            self.check_finite(each, name)

    def takes(self, sound: Tensor) -> bool:
        """Collects a condition; False if it must be checked now."""
        if not self._taking:
            return False
        if self._asked:
            last = self._asked[-1]
        else:
            last = None
        # Joined on the device to the condition that still waits: one number travels, however many
        # calls.
        if last is not None and last.number is not None:
            last.number = last.number & sound
        else:
            self._asked.append(Passenger(sound))
        return True

    def sound(self) -> bool:
        """Whether all conditions held since the last check."""
        asked, self._asked = self._asked, []
        return all(one.read() for one in asked)

    def check_finite(self, scores: Tensor, name: str) -> None:
        """Raises ModelError, now or at the next check, if the scores of ``name`` are not finite."""
        if self._sums is not None:
            self._add(scores, self._sums)
            return
        sound = torch.isfinite(scores).all()
        if not (self.takes(sound) or bool(sound)):
            _refuse(name)

    def _add(self, scores: Tensor, sums: dict[torch.Size, Tensor]) -> None:
        """Marks what is not finite: 0 times it is NaN, and so is every sum with it."""
        # One operation where a check is six: a twentieth of the time of moving 100 particles
        # with a network 72-500-100-50-6.
        if scores.shape in sums:
            sums[scores.shape].add_(scores, alpha=0)
        else:
            sums[scores.shape] = scores * 0

    def check(self, name: str) -> None:
        """Raises ModelError if scores since the last check were not finite."""
        if not self.sound():
            _refuse(name)


def _refuse(name: str) -> None:
    raise ModelError(
        f"{name} returns scores that are not finite numbers; check its weights, mean and std."
    )
