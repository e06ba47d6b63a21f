"""The format of a model file, told by its content."""

from __future__ import annotations

from pathlib import Path

from robgui.core.errors import ModelError, RobguiError
from robgui.core.identify import NOTHING, Format, Kind, identify
from robgui.core.loading.archive import Archive
from robgui.core.model.folder import folder_of

_MODELS = (
    ".pt2, TorchScript, a state dict, safetensors, a Hugging Face or timm folder, ONNX, Keras,"
    " TFLite, skops or a pair of them"
)
_ZIPPED = (Format.EXPORTED, Format.SCRIPT, Format.TORCH, Format.SKOPS, Format.KERAS)


def sniff(path: Path) -> Format:
    """The format of ``path``; for other files, ModelError says what they are."""
    if path.is_dir() and folder_of(path) is None:
        raise ModelError(
            f"{path} is a folder without a model that this program knows (config.json beside"
            " weights); choose the model file inside it."
        )
    try:
        found = identify(path)
    except RobguiError as error:
        raise ModelError(str(error)) from error
    if found is NOTHING:
        raise ModelError(f"{path} is damaged or no model this program knows; choose {_MODELS}.")
    if found.kind is Kind.UNKNOWN:
        raise ModelError(f"{path} is {found.words}; {found.remedy}.")
    if found.model is None:
        raise ModelError(f"{path} is {found.words}, not a model; choose {_MODELS}.")
    if found.model in _ZIPPED:
        with Archive(path):  # Refuses bombs and overlapping members.
            pass
    return found.model
