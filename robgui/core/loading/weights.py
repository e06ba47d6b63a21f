"""Weights without a network: state dicts and safetensors, and whole networks in trusted pickles."""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from robgui.core.errors import IncompleteModelError, ModelError, TrustError
from robgui.core.identify import Format
from robgui.core.loading.architecture import build, classes_of
from robgui.core.loading.archive import Archive
from robgui.core.loading.pickles import foreign_globals, largest_storage
from robgui.core.loading.published import published_network, told_of
from robgui.core.loading.raw import TRUST, Raw, first_layer, reading
from robgui.core.loading.sniff import sniff
from robgui.core.loading.storages import WrongStorageError, check_storages
from robgui.core.model.backend import TorchBackend
from robgui.core.regular import open_regular

#: Keys under which training scripts store the weights among other things.
_NESTS = ("state_dict", "model_state_dict", "model", "net", "weights", "params")
#: Prefixes that wrappers (DataParallel, torch.compile, Lightning) add to every name.
_PREFIXES = ("module.", "_orig_mod.", "model.", "net.", "network.")
#: numpy numbers that training scripts store beside the weights; building them runs no code from the
#: file.
_NUMBERS: list[Any] = [
    # numpy's ``scalar``, whose module was renamed with version 2.
    type(np.float64(0)).__reduce__(np.float64(0))[0],
    np.dtype,
    np.float64,
    *(type(np.dtype(kind)) for kind in ("f8", "f4", "i8", "i4", "?")),
]


def load_weights(path: Path, trust: bool, architecture: str) -> Raw:
    """Reads a ``torch.save`` file, zip or legacy: a state dict or, if trusted, a whole network."""
    return _raw(path, _torch_object(path, trust), trust, architecture)


def load_safetensors(path: Path, trust: bool, architecture: str) -> Raw:
    """Reads a safetensors file."""
    return _raw(path, _safe_tensors(path), trust, architecture)


def _safe_tensors(path: Path) -> Mapping[str, Tensor]:
    from safetensors.torch import load_file

    with reading(path, "safetensors"):
        tensors: Mapping[str, Tensor] = load_file(path, device="cpu")
    return tensors


def plain_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors in a weight file of either kind; TrustError if it would execute code."""
    if sniff(path) is Format.SAFETENSORS:
        stored: object = _safe_tensors(path)
    else:
        stored = _torch_object(path, trust=False)
    tensors = _state_dict(path, stored)
    _refuse_unusual(path, tensors)
    return tensors


def from_object(path: Path, stored: object) -> Raw | None:
    """A network pickled as a whole, even inside a dictionary; None if there is none."""
    if isinstance(stored, dict):
        found = [stored, *stored.values()]
    else:
        found = [stored]
    for value in found:
        if isinstance(value, nn.Module):
            with reading(path, "a network"):
                # In single precision, as the program computes;
                # half precision is a switch of its own (autocast).
                module = value.float()
                return Raw(
                    TorchBackend(module),
                    first=first_layer(module.state_dict()),
                    remarks=(f"a whole network ({type(module).__name__})",),
                )
    return None


def _raw(path: Path, stored: object, trust: bool, architecture: str) -> Raw:
    whole = from_object(path, stored)
    if whole is not None:
        return whole
    tensors = _state_dict(path, stored)
    _refuse_unusual(path, tensors)
    architecture = architecture or published_network(path)
    if not architecture:
        raise IncompleteModelError(
            f"{path} holds weights only; name their network: architecture=file.py:factory,"
            " module:factory, timm:name or torchvision:name."
        )
    hyper = _hyper_parameters(stored)
    try:
        module = build(architecture, path.parent, trust, tensors, hyper)
    except TrustError as error:
        raise TrustError(f"{path} is not loaded: {error}") from error
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error
    fill(path, module, tensors, architecture)
    told, remarks = told_of(path, architecture, module, classes_of(tensors))
    if hyper:
        remarks = (*remarks, f"hyper-parameters: {', '.join(hyper)[:200]}")
    return Raw(
        TorchBackend(module),
        told={"architecture": architecture, **told},
        first=first_layer(module.state_dict()),
        remarks=remarks,
    )


def _torch_object(path: Path, trust: bool) -> object:
    _verify(path)
    with reading(path, "torch weights"):
        try:
            with torch.serialization.safe_globals(_NUMBERS):
                return torch.load(path, map_location="cpu", weights_only=True)
        except pickle.UnpicklingError as error:
            names = _foreign(path)
            if not names:
                raise
            if not trust:
                raise TrustError(_refusal(path, names)) from error
        return torch.load(path, map_location="cpu", weights_only=False)


def _verify(path: Path) -> None:
    with open_regular(path) as file:
        zipped = file.read(2) == b"PK"
        length = os.fstat(file.fileno()).st_size
        file.seek(0)
        if zipped:
            claimed = 0
        else:
            claimed = largest_storage(file)
    if claimed > length:
        raise ModelError(
            f"{path} is damaged: a tensor in it claims {claimed:,} values, more than the file has"
            " bytes."
        )
    if zipped:
        with Archive(path) as archive:
            # Torch reads zip members without looking at their checksums.
            archive.verify()
            _check_sizes(path, archive)


def _check_sizes(path: Path, archive: Archive) -> None:
    """Checks the sizes of the weights; anything else in a pickle needs trust."""
    if foreign_globals(io.BytesIO(archive.read("data.pkl"))):
        return
    try:
        check_storages(archive, "data.pkl", "data")
    except WrongStorageError as error:
        raise ModelError(f"{path} cannot be read: {error}; save plain tensors.") from error


def _foreign(path: Path) -> list[str]:
    with open_regular(path) as file:
        if file.read(2) != b"PK":
            file.seek(0)
            # Before torch 1.6 a file was five pickles: magic number, protocol,
            # system, the object itself, and the keys of its storages.
            return foreign_globals(file, pickles=5)
    with Archive(path) as archive:
        return foreign_globals(io.BytesIO(archive.read("data.pkl")))


def _refusal(path: Path, names: list[str]) -> str:
    shown = ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
    return (
        f"{path} is not loaded: it is a pickle that would execute {shown}; {TRUST}, or save its"
        " state dict."
    )


def _state_dict(path: Path, stored: object) -> dict[str, Tensor]:
    for nest in ("", *_NESTS):
        if nest and isinstance(stored, Mapping):
            found = stored.get(nest)
        else:
            found = stored
        if isinstance(found, Mapping):
            tensors = {
                str(name): value for name, value in found.items() if isinstance(value, Tensor)
            }
        else:
            tensors = {}
        # Tensors at the top count only if they are named like weights: a checkpoint may keep its
        # epoch or its random state there.
        if tensors and (nest or any("." in name or name in ("weight", "bias") for name in tensors)):
            return tensors
    if isinstance(stored, Mapping):
        tensors = {str(name): value for name, value in stored.items() if isinstance(value, Tensor)}
        if tensors:
            return tensors
    raise ModelError(f"{path} holds no weights: it is a {type(stored).__name__} without tensors.")


def _hyper_parameters(stored: object) -> dict[str, object]:
    """The plain values that a Lightning checkpoint says its network was built with."""
    if isinstance(stored, Mapping):
        found = stored.get("hyper_parameters")
    else:
        found = None
    if not isinstance(found, Mapping):
        return {}
    return {name: value for name, value in found.items() if isinstance(name, str)}


def _refuse_unusual(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Refuses all but plain tensors: the indices of a sparse one may point anywhere."""
    for name, tensor in tensors.items():
        if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_meta:
            raise ModelError(
                f"{path}: its weight {name!r} is sparse, quantised or empty; save plain tensors."
            )


def fill(path: Path, module: nn.Module, tensors: dict[str, Tensor], architecture: str) -> None:
    """Puts weights into the network that ``architecture`` names; all of them must fit."""
    wanted = module.state_dict()
    tensors = _strip(tensors, wanted)
    # A counter of batch normalisation that old files lack and evaluation never reads.
    missing = [
        name for name in wanted if name not in tensors and not name.endswith("num_batches_tracked")
    ]
    unexpected = [name for name in tensors if name not in wanted]
    shapes = [
        f"{name} {tuple(tensors[name].shape)} instead of {tuple(wanted[name].shape)}"
        for name in wanted
        if name in tensors and tensors[name].shape != wanted[name].shape
    ]
    problems = [
        f"{len(names)} {words} ({', '.join(names[:3])}{', …' if len(names) > 3 else ''})"
        for words, names in (
            ("missing", missing),
            ("unexpected", unexpected),
            ("of another shape", shapes),
        )
        if names
    ]
    if problems:
        raise ModelError(f"{path} does not fit {architecture}: weights {', '.join(problems)}.")
    with reading(path, "weights"):
        # Not strict because of those counters; everything else was compared above.
        module.load_state_dict(tensors, strict=False)


def _strip(tensors: dict[str, Tensor], wanted: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Removes wrappers' prefixes from every name, unless the network's own names have them."""
    # Wrappers nest in any order, so each round may uncover the next prefix.
    for _ in _PREFIXES:
        for prefix in _PREFIXES:
            if all(name.startswith(prefix) for name in tensors) and not all(
                name.startswith(prefix) for name in wanted
            ):
                tensors = {name.removeprefix(prefix): value for name, value in tensors.items()}
    return tensors
