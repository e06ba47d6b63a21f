"""Imports network libraries (timm, torchvision) beside a torch they were not built for."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType

import torch

from robgui.core.errors import ModelError
from robgui.core.model.backend import first_line


def library(name: str) -> ModuleType | None:
    """The library ``name``; None if it, or the torchvision it needs, is not installed."""
    try:
        import_torchvision()
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None
    # A library that does not fit the installed torch fails in many ways.
    except Exception as error:
        raise ModelError(
            f"the package {name} cannot be imported beside this torch: {first_line(error)}."
        ) from error


def import_torchvision() -> None:
    """Imports torchvision if it is installed, even if its compiled part does not fit torch.

    In that case its two operators are declared for it.
    """
    if importlib.util.find_spec("torchvision") is None:
        return
    try:
        importlib.import_module("torchvision")
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
        # What the failed import left behind would be taken for the finished package.
        for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
            del sys.modules[name]
        _DECLARED.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")  # type: ignore[no-untyped-call]
        _DECLARED.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")  # type: ignore[no-untyped-call]
        importlib.import_module("torchvision")


#: Kept alive on purpose: torch drops the operators of a library object that is collected.
_DECLARED = torch.library.Library("torchvision", "FRAGMENT")  # type: ignore[no-untyped-call]
