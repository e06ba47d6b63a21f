"""Networks of timm from a folder: config.json names the network, its classes and its pictures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from robgui.core.errors import MissingExtraError, ModelError
from robgui.core.loading.folders.pictures import timm_settings
from robgui.core.loading.libraries import library
from robgui.core.loading.raw import Raw, first_layer, reading
from robgui.core.loading.weights import fill
from robgui.core.model.backend import TorchBackend, first_line
from robgui.core.model.folder import DESCRIPTION

#: Arguments that a description may give a network: sizes and switches, no paths.
_ARGUMENTS = frozenset(
    {
        "act_layer", "block_size", "class_token", "depths", "dims", "drop_path_rate", "drop_rate",
        "dynamic_img_size", "embed_dim", "global_pool", "head_init_scale", "img_size", "in_chans",
        "init_values", "mlp_ratio", "norm_layer", "num_heads", "output_stride", "patch_size",
        "qkv_bias", "reg_tokens", "window_size",
    }
)  # fmt: skip
_LARGEST, _LONGEST = 100_000, 50


def load_timm(folder: Path, described: dict[str, Any], tensors: dict[str, Tensor]) -> Raw:
    """The network that ``described`` (its config.json) names."""
    network = str(described["architecture"])
    found = library("timm")
    if found is None:
        raise MissingExtraError(f"{folder}: a timm model", "timm")
    if not re.fullmatch(r"\w+(\.\w+)?", network, re.ASCII) or not found.is_model(network):
        raise ModelError(
            f"{folder / DESCRIPTION}: this version of timm has no network called {network[:50]!r}."
        )
    arguments = _arguments(folder, described)
    with reading(folder, "a timm model"):
        try:
            module = found.create_model(network, pretrained=False, **arguments)
        except TypeError as error:
            raise ModelError(
                f"{folder / DESCRIPTION}: timm cannot build {network}: {first_line(error)}."
            ) from error
    fill(folder, module, tensors, f"timm:{network}")
    pictures = described.get("pretrained_cfg")
    if not isinstance(pictures, dict):
        pictures = described
    return Raw(
        TorchBackend(module),
        told={**timm_settings(pictures), **_names(described, pictures, int(module.num_classes))},
        first=first_layer(module.state_dict()),
        remarks=(f"timm {network}", f"its preprocessing is taken from {DESCRIPTION}"),
    )


def _arguments(folder: Path, described: Mapping[str, Any]) -> dict[str, Any]:
    given = described.get("model_args")
    if isinstance(given, dict):
        wanted = dict(given)
    else:
        wanted = {}
    for name in ("num_classes", "global_pool"):
        if name in described:
            wanted.setdefault(name, described[name])
    for name, value in wanted.items():
        if name not in {*_ARGUMENTS, "num_classes"} or not _is_plain(value):
            raise ModelError(
                f"{folder / DESCRIPTION} is refused: it gives {name[:50]!r} to the function that"
                " builds the network, which may be told sizes and switches only."
            )
    return wanted


def _is_plain(value: object) -> bool:
    if isinstance(value, list):
        return len(value) <= _LONGEST and all(map(_is_plain, value))
    if isinstance(value, str):
        return re.fullmatch(r"\w{0,50}", value, re.ASCII) is not None
    return value is None or (isinstance(value, int | float) and abs(value) <= _LARGEST)


def _names(*documents: Any) -> dict[str, object]:
    """Class names, plain descriptions rather than codes, one for each class."""
    *places, classes = documents
    for place in places:
        codes, plain = place.get("label_names"), place.get("label_descriptions")
        if not isinstance(codes, list) or len(codes) != classes:
            continue
        if not isinstance(plain, dict):
            plain = {}
        return {"labels": tuple(str(plain.get(str(code), code)) for code in codes)}
    return {}
