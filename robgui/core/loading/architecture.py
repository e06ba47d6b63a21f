"""Networks by name: ``timm:name``, ``torchvision:name``, ``file.py:factory``, ``module:factory``.

The factory may have plain values in brackets, for example ``nets.py:resnet(depth=20)``.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from torch import Tensor, nn

from robgui import resources
from robgui.core.errors import MissingExtraError, ModelError, RobguiError, TrustError
from robgui.core.loading.libraries import library
from robgui.core.model.backend import first_line
from robgui.core.regular import is_file

#: Arguments of our own networks, and the largest value of each.
_SIZES, _MOST_CLASSES = ("classes", "features"), 50_000
#: The one file of ours that holds networks; its neighbours make the demo and write files.
_NETWORKS = Path("demo") / "architectures.py"
_HOW = "architecture is file.py:factory, module:factory, timm:name or torchvision:name"


def build(
    architecture: str,
    folder: Path,
    trust: bool,
    weights: Mapping[str, Tensor],
    hyper: Mapping[str, Any] | None = None,
) -> nn.Module:
    """Builds the network ``architecture`` names.

    Args:
        architecture: What to build.
        folder: Where a relative ``file.py`` is looked for first.
        trust: Whether foreign Python code may be executed.
        weights: The weights it is for; they give the number of classes of a library's network.
        hyper: The hyper-parameters in the file; passed to a trusted factory that was given no
            arguments, as far as it takes them.
    """
    where, factory, args, kwargs = _parse(architecture)
    known = where in ("timm", "torchvision")
    if not trust:
        _refuse_arguments(architecture, args, kwargs, ("num_classes",) if known else _SIZES)
    if known:
        make = _library(where, factory, trust)
        if not args and "num_classes" not in kwargs:
            kwargs["num_classes"] = classes_of(weights)
    else:
        make = _attribute(_module(where, folder, trust), factory, architecture, trust)
        if trust and hyper and not args and not kwargs:
            kwargs = _taken(make, hyper)
    try:
        module = make(*args, **kwargs)
    except (Exception, SystemExit) as error:
        # Foreign code: whatever it raises becomes one sentence.
        raise ModelError(
            f"{architecture} cannot be built: {type(error).__name__}: {first_line(error)}."
        ) from error
    if not isinstance(module, nn.Module):
        raise ModelError(
            f"{architecture} gives a {type(module).__name__}, not a torch network (nn.Module)."
        )
    return module


def _taken(make: Callable[..., Any], hyper: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a factory takes by name."""
    try:
        parameters = inspect.signature(make).parameters
    except (TypeError, ValueError):  # A factory that does not reveal its parameters.
        return {}
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values()):
        return dict(hyper)
    return {name: value for name, value in hyper.items() if name in parameters}


def _refuse_arguments(
    architecture: str, args: list[Any], kwargs: Mapping[str, Any], allowed: Sequence[str]
) -> None:
    """Without trust, a file may state the number of classes or features and nothing else."""
    wrong = next(
        (name for name in kwargs if name not in allowed), "a value without a name" if args else ""
    )
    if wrong:
        raise TrustError(
            f"{architecture} gives {wrong} to the function that builds the network, and without"
            f" trust only {' and '.join(allowed)} may be given; load it only if you trust it."
        )
    for name, value in kwargs.items():
        # Not ``isinstance``: True is an int, and would be one class.
        if type(value) is not int or not 1 <= value <= _MOST_CLASSES:
            raise ModelError(
                f"{architecture}: {name} must be a whole number from 1 to {_MOST_CLASSES:,}."
            )


def is_ours(path: Path) -> bool:
    """True for a file in the program's own resources, which needs no trust."""
    try:
        return path.resolve().is_relative_to(resources.path().resolve())
    except RobguiError:  # An installation without resources has no files of its own.
        return False


def _parse(architecture: str) -> tuple[str, str, list[Any], dict[str, Any]]:
    """``where:name`` or ``where:name(plain values)``."""
    match = re.fullmatch(r"(.+?):([\w.\-/]+)(\(.*\))?", architecture, re.DOTALL)
    if match is None:
        raise ModelError(f"{architecture!r} does not name a network; {_HOW}.")
    try:
        # Only parsed. The values below are literals, so a side file cannot have anything evaluated.
        call = ast.parse(f"f{match[3] or '()'}", mode="eval").body
        if not isinstance(call, ast.Call):
            raise TypeError("not a call")
        args = [ast.literal_eval(value) for value in call.args]
        return (
            match[1],
            match[2],
            args,
            {str(pair.arg): ast.literal_eval(pair.value) for pair in call.keywords},
        )
    except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError) as error:
        raise ModelError(
            f"{architecture!r} cannot be understood; only plain values may stand in the brackets;"
            f" {_HOW}."
        ) from error


def _module(where: str, folder: Path, trust: bool) -> ModuleType:
    if where.endswith(".py"):
        return _file(_find(where, folder), trust)
    if not trust:
        raise TrustError(
            f"building the network imports the Python module {where}; load it only if you trust it."
        )
    try:
        return importlib.import_module(where)
    except (Exception, SystemExit) as error:
        # Foreign code: whatever it raises becomes one sentence.
        raise ModelError(
            f"the module {where} of the architecture cannot be imported: {first_line(error)}."
        ) from error


def _find(name: str, folder: Path) -> Path:
    # Beside the weights first: a file of that name in the current folder is an accident.
    for path in (folder / name, Path(name)):
        if is_file(path):
            return path
    raise ModelError(
        f"the architecture file {name} is neither in {folder} nor in the current folder."
    )


def _file(path: Path, trust: bool) -> ModuleType:
    if not trust and not (
        is_ours(path) and path.resolve() == (resources.path() / _NETWORKS).resolve()
    ):
        raise TrustError(
            f"building the network executes the Python file {path}; load it only if you trust it."
        )
    # With a prefix: a file called torch.py must not replace torch for everybody else.
    name = f"robgui_architecture_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ModelError(f"the architecture file {path} cannot be read.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # Dataclasses and pickled classes look up their module.
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        # Foreign code: whatever it raises becomes one sentence.
        del sys.modules[name]
        raise ModelError(
            f"the architecture file {path} raised {type(error).__name__}: {first_line(error)}."
        ) from error
    return module


def _attribute(
    module: ModuleType, dotted: str, architecture: str, trust: bool
) -> Callable[..., Any]:
    """What to call; without trust only a function defined in the file itself."""
    known = [
        name
        for name, each in vars(module).items()
        if inspect.isfunction(each) and each.__module__ == module.__name__
    ]
    value: Any = module
    for name in dotted.split("."):
        value = getattr(value, name, None)
    if not callable(value) or (not trust and dotted not in known):
        raise ModelError(
            f"{architecture}: there is no {dotted} to call; there is:"
            f" {', '.join(known[:8]) or 'nothing'}."
        )
    return value  # type: ignore[no-any-return]


def _library(name: str, network: str, trust: bool) -> Callable[..., Any]:
    """The library function that builds a network with random weights; nothing is downloaded."""
    found = library(name)
    if found is None:
        raise MissingExtraError(f"the architecture {name}:{network}", "timm")
    if not trust and not _is_known(found, name, network):
        raise ModelError(f"{name} has no network for classification that is called {network}.")
    if name == "timm":
        return lambda *args, **kwargs: found.create_model(
            network, *args, **{"pretrained": False, **kwargs}
        )
    return lambda *args, **kwargs: found.models.get_model(
        network, *args, **{**_no_weights(found, network), **kwargs}
    )


def _is_known(package: ModuleType, name: str, network: str) -> bool:
    """Whether a library lists a classifier of this name; timm would take a URL for one."""
    if not re.fullmatch(r"\w+(\.\w+)?", network, re.ASCII):
        return False
    return bool(
        package.is_model(network)
        if name == "timm"
        else network in package.models.list_models(module=package.models)
    )


def _no_weights(package: ModuleType, network: str) -> dict[str, None]:
    """Keeps torchvision from downloading: some networks contain others with weights."""
    parameters = inspect.signature(package.models.get_model_builder(network)).parameters
    return {
        name: None
        for name in ("weights", "weights_backbone")
        if name == "weights" or name in parameters
    }


def classes_of(weights: Mapping[str, Tensor]) -> int:
    """The number of classes of some weights: the rows of the last one, in nearly every network."""
    matrices = [weight for weight in weights.values() if weight.ndim >= 2]
    if matrices:
        return min(int(matrices[-1].shape[0]), _MOST_CLASSES)
    # Those of ImageNet, for which both libraries build their networks unless told otherwise.
    return 1000
