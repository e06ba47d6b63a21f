"""A model folder -> Raw: which library describes it, and its weights without running any code."""

from __future__ import annotations

from pathlib import Path

from torch import Tensor

from robgui.core.errors import ModelError, TrustError
from robgui.core.loading.folders.hugging_face import load_hugging_face
from robgui.core.loading.folders.timm_model import load_timm
from robgui.core.loading.raw import Raw
from robgui.core.loading.weights import plain_tensors
from robgui.core.model.folder import DESCRIPTION, document, is_timm, weights_in


def load_folder(folder: Path) -> Raw:
    """Reads a model folder; no code in it is ever run, with trust or without."""
    described = document(folder, DESCRIPTION)
    _refuse_code(folder, described)
    tensors = _weights(folder)
    if is_timm(described):
        return load_timm(folder, described, tensors)
    return load_hugging_face(folder, described, tensors)


def _refuse_code(folder: Path, described: dict[str, object]) -> None:
    """Refuses a description that names Python files as parts of the model; they are never run."""
    for name in ("auto_map", "custom_pipelines"):
        if named := described.get(name):
            words = str(next(iter(named.values())) if isinstance(named, dict) else named)[:100]
            raise ModelError(
                f"{folder / DESCRIPTION} is refused: its {name} asks to run Python code that comes"
                f" with the model ({words}); export the model to ONNX or torch.export instead."
            )


def _weights(folder: Path) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    for path in weights_in(folder):
        try:
            # Shards share no names; the index of the folder says which holds which.
            tensors |= plain_tensors(path)
        except TrustError as error:
            raise ModelError(
                f"{path} is refused: it is a pickle that would execute code; save the model with"
                " safetensors."
            ) from error
    return tensors
