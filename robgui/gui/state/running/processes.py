"""Processes: where the models of the window are and where its runs compute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from robgui.core.execution.choice import one_process
from robgui.gui.state.running.places import cluster_places, window_places

if TYPE_CHECKING:
    from robgui.core.model.card import ModelCard
    from robgui.gui.state.store import Store


class Processes:
    """How many there are, on which devices or cluster, and how much memory each may take.

    Attributes:
        at_once: How many runs compute at once.
        memory: Bytes that each process may take; 0 lets the program choose.
        cluster: Address of the Ray cluster that computes runs; empty for this machine.
        device: Where runs compute; empty for the device in use, or whichever is free.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.at_once = 1
        self.memory = 0
        self.cluster = self.device = ""

    def set_limits(self, at_once: int, memory: int) -> None:
        """Sets how many runs compute at once and how many bytes each process may take.

        0 lets the program choose. What runs goes on.
        """
        if (at_once, memory) != (self.at_once, self.memory):
            self.at_once, self.memory = at_once, memory
            self._store.answers.arrange(memory)
            self.arrange()

    def arrange(self) -> None:
        """Starts and ends processes where other ones are wanted now; what runs goes on."""
        library = self._store.library
        devices = [name for name, _ in library.devices]
        places = window_places(self.at_once, library.device, devices, self.device)
        self._store.runner.arrange(
            [*places, *cluster_places(self.cluster, self.at_once)], self.memory
        )

    def set_devices(self, devices: list[tuple[str, str]]) -> None:
        """The devices of this machine, by name and in words; the first is in use by default."""
        library = self._store.library
        library.devices = devices
        library.device = library.device or devices[0][0]
        self.arrange()

    def set_cluster(self, address: str) -> None:
        """Runs from now on are computed by the Ray cluster at ``address``; empty for this machine.

        Models are still opened and looked at here.
        """
        # Without workers, runs never reach a cluster.
        if one_process():
            self.cluster = ""
        else:
            self.cluster = address
        self.arrange()

    def send_runs_to(self, device: str) -> None:
        """Runs from now on are computed on ``device``, beside what runs elsewhere.

        Empty for the one in use, or whichever is free.

        Models are still opened and looked at where they are.
        """
        if one_process():
            self.device = ""
        else:
            self.device = device
        self.arrange()

    @property
    def pids(self) -> list[int]:
        """The processes in which models are."""
        return [*self._store.answers.pids, *self._store.runner.pids]

    @property
    def graphics(self) -> tuple[int, int] | None:
        """Bytes in use and in all of the graphics card in use; None if there is none."""
        # Both kinds of process look at the card; who looked last knows best.
        newest = max(
            self._store.answers.graphics, self._store.runner.graphics, key=lambda one: one.when
        )
        return newest.of(self._store.library.device)

    def warm(self) -> None:
        """Preloads the model and data in use where they will run."""
        from robgui.core.execution.request import Request, reference

        model, dataset = self._store.library.model, self._store.library.dataset
        if model is not None and model.path is not None and not one_process():
            if dataset is not None and dataset.path is not None:
                data = reference(dataset)
            else:
                data = None
            request = Request(
                # The name is never looked up: only models and data are loaded.
                analysis="any",
                models=(reference(model),),
                dataset=data,
                device=str(model.device),
            )
            self._store.runner.warm(request, code_of((model,)))


def code_of(models: Sequence[ModelCard]) -> frozenset[str]:
    """The digests of the code that was run to load these models."""
    return frozenset(model.ran for model in models if model.ran)
