"""Image classifiers of Hugging Face transformers.

The installed library builds the network from its description, and weights read here fill it. The
library is given no path: it opens no file, downloads nothing and imports nothing from the folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from robgui.core.errors import MissingExtraError, ModelError
from robgui.core.loading.folders.pictures import hugging_face_settings
from robgui.core.loading.libraries import import_torchvision
from robgui.core.loading.raw import Raw, first_layer, reading
from robgui.core.model.backend import TorchBackend
from robgui.core.model.folder import DESCRIPTION, preprocessing

#: Larger than any number in the description of a real image classifier.
_LARGEST, _MOST_LAYERS = 2**22, 2_000
#: Numbers that a network may hold besides its stored weights: position tables, shared weights.
_UNSTORED = 2**26
#: Fields about how to load or compute; both are decided here.
_OURS = re.compile(r"_.*|.*attn_implementation|(torch_)?dtype|output_\w+|return_dict|torchscript")
#: Fields that would make the library fetch another model or other kernels.
_ELSEWHERE = ("backbone", "use_pretrained_backbone", "use_timm_backbone", "quantization_config")
_NOT_PICTURES = ("perceiver", "shieldgemma2", "timm_wrapper")


def load_hugging_face(folder: Path, described: dict[str, Any], tensors: dict[str, Tensor]) -> Raw:
    """The image classifier described by ``described`` (its config.json)."""
    _check_numbers(folder, described)
    told, remarks = hugging_face_settings(described, preprocessing(folder))
    with reading(folder, "a Hugging Face model"):
        module = _build(folder, described, tensors)
    return Raw(
        TorchBackend(module),
        told=told,
        first=first_layer(module.state_dict()),
        remarks=(f"Hugging Face {type(module).__name__}", *remarks),
    )


def _build(folder: Path, described: dict[str, Any], tensors: Mapping[str, Tensor]) -> nn.Module:
    kind = str(described.get("model_type"))
    transformers = _transformers(folder)
    auto = transformers.models.auto
    known = auto.modeling_auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES
    if kind not in known or kind in _NOT_PICTURES:
        raise ModelError(
            f"{folder / DESCRIPTION}: this version of transformers knows no image classifier of"
            f" the type {kind[:50]!r}; export the model to ONNX instead."
        )
    elsewhere = next((name for name in _ELSEWHERE if described.get(name)), "")
    if elsewhere:
        raise ModelError(
            f"{folder / DESCRIPTION} is refused: its {elsewhere} takes parts of the model from"
            " elsewhere; export the model to ONNX instead."
        )
    own = {name: value for name, value in described.items() if not _OURS.fullmatch(name)}
    config = auto.configuration_auto.CONFIG_MAPPING[kind].from_dict(own)
    network = auto.modeling_auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING[type(config)]
    if isinstance(network, tuple):
        named = {each.__name__: each for each in network}
        network = next(
            (named[name] for name in _words(described.get("architectures")) if name in named),
            network[0],
        )
    _refuse_gigabytes(folder, network, config, tensors)
    with _quiet(transformers):
        module, found = network.from_pretrained(
            None,
            config=config,
            state_dict=dict(tensors),
            output_loading_info=True,
            attn_implementation="eager",
            dtype=torch.float32,
            local_files_only=True,
            ignore_mismatched_sizes=True,  # Reported below, in one sentence.
        )
    _refuse_gaps(folder, found)
    model: nn.Module = module
    return model


def _refuse_gigabytes(
    folder: Path, network: Any, config: Any, tensors: Mapping[str, Tensor]
) -> None:
    """Refuses a network larger than its weights, whose rest would be filled with random numbers.

    It is first built without memory, to count its numbers.
    """
    # Tensors on the meta device have a shape and no memory.
    with torch.device("meta"):
        sketch: nn.Module = network(config)
    asked = sum(each.numel() for each in (*sketch.parameters(), *sketch.buffers()))
    if asked > _UNSTORED + sum(each.numel() for each in tensors.values()):
        raise ModelError(
            f"{folder}: its weights do not fit its {DESCRIPTION}, which asks for a network of"
            f" {asked:,} numbers."
        )


def _words(value: object) -> list[str]:
    if isinstance(value, list):
        return [each for each in value if isinstance(each, str)]
    return []


def _transformers(folder: Path) -> Any:
    try:
        import_torchvision()  # Transformers uses it if it is installed.
        import transformers.models.auto.configuration_auto
        import transformers.models.auto.modeling_auto
    except ImportError:
        raise MissingExtraError(f"{folder}: a Hugging Face model", "hf") from None
    return transformers


def _refuse_gaps(folder: Path, found: Mapping[str, Any]) -> None:
    """Refuses missing and surplus weights.

    A missing weight would be random; a surplus one means another network.
    """
    for words, name in (("missing", "missing_keys"), ("of another shape", "mismatched_keys")):
        gaps = (each[0] if isinstance(each, tuple) else each for each in found.get(name, ()))
        if names := sorted(map(str, gaps)):
            raise ModelError(
                f"{folder}: its weights do not fit its {DESCRIPTION}: {len(names)} {words}"
                f" ({', '.join(names[:3])[:200]})."
            )


def _check_numbers(folder: Path, described: Mapping[str, Any]) -> None:
    """Refuses absurd sizes: a few bytes can ask for a network of any size."""
    for name, value in described.items():
        if re.search("layers|depth|blocks", name):
            most = _MOST_LAYERS
        else:
            most = _LARGEST
        for number in value if isinstance(value, list) else [value]:
            if isinstance(number, dict):
                _check_numbers(folder, number)
            elif isinstance(number, int | float) and not -most <= number <= most:
                raise ModelError(
                    f"{folder / DESCRIPTION} is refused: {name} = {number:,} is larger than in any"
                    " real image classifier."
                )


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """Silences the library's progress bars and log, and restores both afterwards."""
    log = transformers.utils.logging
    level, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        yield
    finally:
        log.set_verbosity(level)
        if bars:
            log.enable_progress_bar()
