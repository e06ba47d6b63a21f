"""Networks by name: ``timm:name``, ``torchvision:name``, ``file.py:factory`` and ``module:factory``.

The factory may carry plain values in brackets, for example ``nets.py:resnet(depth=20)``.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from robgui import resources
from robgui.core.errors import ModelError, RobguiError, TrustError
from robgui.core.model.backend import first_line

_HOW = "architecture is file.py:factory, module:factory, timm:name or torchvision:name"


def build(architecture: str, folder: Path, trust: bool, weights: Mapping[str, Tensor]) -> nn.Module:
    """Builds the network ``architecture`` names.

    Args:
        architecture: What to build.
        folder: Where a relative ``file.py`` is looked for first.
        trust: Whether foreign Python code may be executed.
        weights: The weights it is for; they tell the number of classes of a network from a library.
    """
    where, _, what = architecture.rpartition(":")
    if not where or not what:
        raise ModelError(f"{architecture!r} does not name a network; {_HOW}.")
    factory, args, kwargs = _parse(what, architecture)
    if where in ("timm", "torchvision"):
        make = _library(where, factory)
        if not args and "num_classes" not in kwargs:
            kwargs["num_classes"] = _classes(weights)
    else:
        make = _attribute(_module(where, folder, trust), factory, architecture)
    try:
        module = make(*args, **kwargs)
    except (Exception, SystemExit) as error:  # foreign code: whatever it raises becomes one sentence
        raise ModelError(f"{architecture} cannot be built: {type(error).__name__}: {first_line(error)}.") from error
    if not isinstance(module, nn.Module):
        raise ModelError(f"{architecture} gives a {type(module).__name__}, not a torch network (nn.Module).")
    return module


def is_ours(path: Path) -> bool:
    """True for a file inside the program's own resources, which needs no trust."""
    try:
        return path.resolve().is_relative_to(resources.path().resolve())
    except RobguiError:  # an installation without resources has no files of its own
        return False


def _parse(what: str, architecture: str) -> tuple[str, list[Any], dict[str, Any]]:
    """``name`` or ``name(plain values)``."""
    if "(" not in what:
        return what, [], {}
    name, _, rest = what.partition("(")
    try:
        call = ast.parse(f"f({rest}", mode="eval").body
        if not isinstance(call, ast.Call):
            raise TypeError("not a call")
        return (
            name,
            [ast.literal_eval(value) for value in call.args],
            {str(pair.arg): ast.literal_eval(pair.value) for pair in call.keywords},
        )
    except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError) as error:
        raise ModelError(f"{architecture!r} cannot be understood; only plain values may stand in the brackets; {_HOW}.") from error


def _module(where: str, folder: Path, trust: bool) -> ModuleType:
    if where.endswith(".py"):
        return _file(_find(where, folder), trust)
    if not trust:
        raise TrustError(f"building the network imports the Python module {where}; load it only if you trust it.")
    try:
        return importlib.import_module(where)
    except (Exception, SystemExit) as error:  # foreign code: whatever it raises becomes one sentence
        raise ModelError(f"the module {where} of the architecture cannot be imported: {first_line(error)}.") from error


def _find(name: str, folder: Path) -> Path:
    for path in (folder / name, Path(name)):
        if path.is_file():
            return path
    raise ModelError(f"the architecture file {name} is neither in {folder} nor in the current folder.")


def _file(path: Path, trust: bool) -> ModuleType:
    if not trust and not is_ours(path):
        raise TrustError(f"building the network executes the Python file {path}; load it only if you trust it.")
    name = f"robgui_architecture_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ModelError(f"the architecture file {path} cannot be read.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickled classes look their module up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # foreign code: whatever it raises becomes one sentence
        del sys.modules[name]
        raise ModelError(f"the architecture file {path} raised {type(error).__name__}: {first_line(error)}.") from error
    return module


def _attribute(module: ModuleType, dotted: str, architecture: str) -> Callable[..., Any]:
    value: Any = module
    for name in dotted.split("."):
        value = getattr(value, name, None)
    if not callable(value):
        known = [name for name, each in vars(module).items() if inspect.isfunction(each) and each.__module__ == module.__name__]
        raise ModelError(f"{architecture}: there is no {dotted} to call; there is: {', '.join(known[:8]) or 'nothing'}.")
    return value  # type: ignore[no-any-return]


def _library(name: str, network: str) -> Callable[..., Any]:
    try:
        if importlib.util.find_spec("torchvision") is not None:
            _import_torchvision()
        library = importlib.import_module(name)
    except ModuleNotFoundError:
        raise ModelError(
            f"the architecture {name}:{network} needs the package {name}; install it with: pip install --no-deps {name}"
        ) from None
    except Exception as error:  # a library that does not fit the installed torch fails in many ways
        raise ModelError(f"the package {name} cannot be imported beside this torch: {first_line(error)}.") from error
    if name == "timm":
        return lambda *args, **kwargs: library.create_model(network, *args, pretrained=False, **kwargs)
    return lambda *args, **kwargs: library.models.get_model(network, *args, weights=None, **kwargs)


def _import_torchvision() -> None:
    """Imports torchvision, also where its compiled part does not fit torch: then its two operators are declared for it."""
    try:
        importlib.import_module("torchvision")
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
        for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
            del sys.modules[name]
        _DECLARED.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")  # type: ignore[no-untyped-call]
        _DECLARED.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")  # type: ignore[no-untyped-call]
        importlib.import_module("torchvision")


#: Kept for the life of the program: torch forgets the operators of a library object that is collected.
_DECLARED = torch.library.Library("torchvision", "FRAGMENT")  # type: ignore[no-untyped-call]


def _classes(weights: Mapping[str, Tensor]) -> int:
    """Rows of the last weight, which is the classifier of nearly every network."""
    matrices = [weight for weight in weights.values() if weight.ndim >= 2]
    return int(matrices[-1].shape[0]) if matrices else 1000
