"""Cluster: the same tasks on Ray, each streaming, with the CPU or GPU its device needs."""

from __future__ import annotations

import importlib
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

from robgui.batch.address import check_answer, read_address, within
from robgui.batch.shipping import digest, pack, relocated, unpack
from robgui.core.errors import MissingExtraError, ParamsError, RobguiError
from robgui.core.execution.carrying import carry_out, thinned
from robgui.core.execution.execution import COMMIT_SECONDS, Execution
from robgui.core.execution.executor import lost
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.request import Reference, Request
from robgui.core.execution.task import Report, Task
from robgui.core.files import private_folder

#: Tasks queued beyond those that run, so a worker never waits for the driver.
_AHEAD = 2
#: Seconds within which a running cluster takes orders.
_CONNECT_SECONDS = 20.0
#: Seconds for which the number of slots is trusted.
_SLOTS_SECONDS = 1.0
#: Most results a second that reach the driver on the way, from all tasks together.
_RESULTS_PER_SECOND = 20.0
#: How a model or dataset reaches a machine: by a path that all share, by the object store, or by
#: whichever works.
Ship = Literal["auto", "always", "never"]


class Cluster:
    """Tasks on a Ray cluster: an existing one, or one started here and ended with this object.

    Args:
        address: ``auto`` takes a running cluster and starts one if there is none, ``local`` always
            starts one, anything else is ``HOST:PORT`` of the head of a cluster.
        device: ``cpu`` or ``cuda``; empty takes CUDA where the cluster has GPUs.
        threads: CPU cores for each task.
        ship: Whether files are sent where a machine cannot read their path.
        imports: Modules a worker imports first.
        pace: Seconds between two results of a task.
        ahead: Results that may wait to be taken before a task waits too; 0 sets no limit.
    """

    attempts = 4

    def __init__(
        self,
        address: str = "auto",
        device: str = "",
        *,
        threads: int = 1,
        ship: Ship = "auto",
        imports: Sequence[str] = (),
        pace: float = COMMIT_SECONDS,
        ahead: int = 0,
    ) -> None:
        read_address(address)
        # Ray may be in use by the caller's own program: then it is neither started nor ended here.
        self._ray = _ray()
        self._ours = not self._ray.is_initialized()
        if self._ours:
            self._connect(address)
        resources = self._ray.cluster_resources()
        self.device = device or ("cuda" if resources.get("GPU", 0) >= 1 else "cpu")
        if self.device.startswith("cuda"):
            self._needs = {"num_gpus": 1, "num_cpus": threads}
        else:
            self._needs = {"num_cpus": threads}
        self._threads = threads
        self._ship = ship
        self._imports = tuple(imports)
        self._pace = pace
        self._going: dict[Any, Execution] = {}
        self._cancelled: set[Any] = set()
        self._parcels: dict[str, _Sent | None] = {}
        self._slots = (0, 0.0)
        if self.slots < 1:
            self.close()
            raise ParamsError(
                f"The cluster has no room for a task on {self.device}; add a node or choose another"
                " device."
            )
        # No retries by Ray: a repeated task would report its Steps twice, and lost workers are
        # counted here.
        stream = self._ray.remote(num_returns="streaming", max_retries=0)(_stream)
        patience = {"_generator_backpressure_num_objects": ahead} if ahead else {}
        self._remote = stream.options(**self._needs, **patience)

    @property
    def slots(self) -> int:
        """How many tasks the cluster can run at once, as nodes come and go."""
        count, until = self._slots
        if time.monotonic() >= until:
            resources = self._ray.cluster_resources()
            count = int(
                min(
                    resources.get(name, 0) / self._needs[need]
                    for name, need in _RESOURCES.items()
                    if need in self._needs
                )
            )
            self._slots = (count, time.monotonic() + _SLOTS_SECONDS)
        return count

    @property
    def room(self) -> int:
        """How many more tasks are taken: a few more than run at once."""
        return max(0, self.slots + _AHEAD - len(self._going))

    def submit(self, execution: Execution) -> None:
        if execution.claim():
            pace = max(self._pace, self.slots / _RESULTS_PER_SECOND)
            parcels = self._send(execution.request)
            self._going[
                self._remote.remote(execution.task, parcels, self._threads, pace, self._imports)
            ] = execution

    def holds(self, execution: Execution) -> bool:
        """Whether it is carrying out this Execution."""
        return execution in self._going.values()

    def drop(self, execution: Execution) -> None:
        """Ends the task of an Execution at once, if it has one."""
        for going in [one for one, its in self._going.items() if its is execution]:
            self._ray.cancel(going, force=True)
            self._forget(going)

    @property
    def alive(self) -> bool:
        """Whether the cluster can still be reached."""
        return bool(self._ray.is_initialized())

    def work(self, seconds: float) -> None:
        for going, execution in self._going.items():
            if execution.stop_asked and going not in self._cancelled:
                self._cancelled.add(going)
                # Politely; ``drop`` and ``close`` force it.
                self._ray.cancel(going)
        if not self._going:
            return
        waiting = list(self._going)
        ready, _ = self._ray.wait(waiting, num_returns=1, timeout=seconds)
        if ready:  # One is; which others are is asked without waiting.
            ready, _ = self._ray.wait(waiting, num_returns=len(waiting), timeout=0)
        for going in ready:
            self._read(going)

    def close(self) -> None:
        for going in self._going:
            self._ray.cancel(going, force=True)
        self._going.clear()
        self._cancelled.clear()
        if self._ours and self._ray.is_initialized():
            self._ray.shutdown()

    def _connect(self, address: str) -> None:
        if address == "local":
            options: dict[str, Any] = {"include_dashboard": False}
        else:
            options = {}
        quiet = {"log_to_driver": False, "logging_level": "error"}
        check_answer(address, self._ray.util.get_node_ip_address())
        if address == "local":
            prepare_token(self._ray.__version__)
        connect = partial(self._ray.init, address=address, **options, **quiet)
        try:
            if read_address(address) is None:  # One may have to be started, which takes time.
                connect()
            else:
                within(_CONNECT_SECONDS, connect, address)
        except (ConnectionError, RuntimeError, ValueError) as error:
            # RuntimeError: another version of Python or Ray there.
            if address != "auto" or not isinstance(error, ConnectionError):
                raise ParamsError(
                    f"The Ray cluster at {address} cannot be used ({_first_line(error)}); check the"
                    " address."
                ) from error
            prepare_token(self._ray.__version__)
            self._ray.init(address="local", include_dashboard=False, **quiet)

    def _read(self, going: Any) -> None:
        """Takes the next report of a task.

        If its worker or node is gone, its Execution waits for another one.
        """
        execution = self._going[going]
        try:
            execution.take(self._ray.get(next(going)))
        except StopIteration:  # Its end has already been reported.
            self._forget(going)
        except self._ray.exceptions.RayError as error:
            self._forget(going)
            if execution.stop_asked:
                why = ""
            else:
                why = _first_line(getattr(error, "cause", error))
            execution.take(lost(execution, why, self.attempts))
        if execution.state.ended:
            self._forget(going)

    def _forget(self, going: Any) -> None:
        self._going.pop(going, None)
        self._cancelled.discard(going)

    def _send(self, request: Request) -> dict[str, _Sent]:
        """What to send with a request; the content goes into the object store once."""
        if self._ship == "never":
            return {}
        references = (*request.models, *([request.dataset] if request.dataset else []))
        for reference in references:
            if reference.fingerprint not in self._parcels:
                self._parcels[reference.fingerprint] = self._pack(reference)
        found = {
            reference.fingerprint: self._parcels[reference.fingerprint] for reference in references
        }
        return {fingerprint: sent for fingerprint, sent in found.items() if sent is not None}

    def _pack(self, reference: Reference) -> _Sent | None:
        try:
            if (
                self._ship == "auto"
                and len([node for node in self._ray.nodes() if node["Alive"]]) == 1
            ):
                return None
            parcel = pack(reference)
        except RobguiError:
            if self._ship == "always":
                raise
            return None  # Too large: a worker without it at the same path says so.
        return _Sent(
            digest(parcel), [self._ray.put(parcel)], self._ship == "always", _own_code(reference)
        )


@dataclass(frozen=True, slots=True)
class _Sent:
    """A parcel on its way.

    Its content is in a list, so only a machine that needs it fetches it.
    """

    digest: str
    content: list[Any]
    always: bool
    trusted: frozenset[str]


#: From this version on, Ray makes a token for every cluster that it starts on this machine.
_FIRST_WITH_TOKENS = (2, 59)
_RESOURCES = {"CPU": "num_cpus", "GPU": "num_gpus"}


def _stream(
    task: Task,
    parcels: Mapping[str, _Sent],
    threads: int,
    result_seconds: float,
    imports: Sequence[str],
) -> Iterator[Report]:
    """A task on a Ray worker, which keeps its models for the next task."""
    import torch

    # Ray only counts cores; torch would take all of the machine for each task.
    torch.set_num_threads(threads)
    for module in imports:
        importlib.import_module(module)
    request = task.request
    arrived = {
        "models": tuple(_arrived(model, parcels) for model in request.models),
        "dataset": None if request.dataset is None else _arrived(request.dataset, parcels),
    }
    trusted = task.trusted.union(*(parcel.trusted for parcel in parcels.values()))
    here = replace(task, request=request.model_copy(update=arrived), trusted=trusted)
    shelf = _shelf(request.device)
    if task.data is not None and request.dataset is not None:
        shelf.add_dataset(task.data, request.dataset.fingerprint)
    for report in thinned(carry_out(here, shelf), result_seconds):
        yield replace(report, problem=None)  # Errors of foreign code may not be picklable.


@cache
def _shelf(device: str) -> LoadedCache:
    # One for each process: Ray uses its workers again, and the model is then loaded already.
    return LoadedCache(device)


def _arrived(reference: Reference, parcels: Mapping[str, _Sent]) -> Reference:
    """The reference as this machine can open it: at its own path, or unpacked here."""
    parcel = parcels.get(reference.fingerprint)
    if parcel is None or (not parcel.always and Path(reference.path).exists()):
        return reference
    return relocated(
        reference, unpack(reference, parcel.digest, lambda: _ray().get(parcel.content[0]))
    )


def _own_code(reference: Reference) -> frozenset[str]:
    """The digest of one of our own models' code: away from its place nothing else proves it."""
    from robgui.core.loading import is_ours
    from robgui.core.trust.opening import code_of

    if reference.kind != "model" or not is_ours(Path(reference.path)):
        return frozenset()
    return frozenset({code_of(Path(reference.path), **reference.options)})


def _first_line(error: BaseException | None) -> str:
    lines = str(error).strip().splitlines()
    if lines:
        return lines[0][:300].rstrip(".")
    return type(error).__name__


def prepare_token(version: str) -> None:
    """Makes the next cluster started take orders only from holders of this user's token.

    Whatever the environment says: Ray makes the token and asks for it, from a certain version on,
    unless told otherwise, and it only looks at what was set before it was imported. The token lies
    in a folder for this user alone.
    """
    if tuple(int(number) for number in re.findall(r"\d+", version)[:2]) < _FIRST_WITH_TOKENS:
        raise RobguiError(
            f"Ray {version} starts clusters that ask nobody for a token, so anyone in reach could"
            " run code on them; update it with: pip install -U 'robgui[cluster]'"
        )
    # Before Ray makes it, with whatever mode the umask allows.
    private_folder(Path.home() / ".ray")
    os.environ.pop("RAY_AUTH_MODE", None)


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would send usage statistics.
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError("A cluster", "cluster") from error
    return ray
