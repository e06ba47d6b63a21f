"""Models and data named on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robgui.cli.options import pairs
from robgui.core.errors import DataError, ParamsError
from robgui.core.execution.params_text import indices
from robgui.core.model.class_names import read_names
from robgui.core.model.remembered import overlooked
from robgui.core.model.settings import ModelSettings

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.model.classifier import Classifier


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Options that say how to read models and data, shared by the commands."""
    parser.add_argument(
        "--names", metavar="FILE", help="class names of the model, one per line in the order of its outputs, or a JSON list"
    )
    parser.add_argument(
        "--model-set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of the model: mean=0.5,0.5,0.5 (may be repeated; robgui inspect --help lists them)",
    )
    parser.add_argument(
        "--data-set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the data: label=column (may be repeated; as above)",
    )
    parser.add_argument("--device", default="", help="cpu, cuda or cuda:1 [cuda where there is one]")
    parser.add_argument("--autocast", action="store_true", help="compute in half precision where that is faster")
    parser.add_argument("--trust", action="store_true", help="the model files may execute code when they are read")


def open_model(path: str, given: argparse.Namespace, say: Callable[[str], None]) -> Classifier:
    """Loads a model as the options say."""
    from robgui.core.loading import load

    settings = pairs(given.model_set, ModelSettings.model_fields, "model setting")
    if given.names is not None:
        settings["labels"] = read_names(Path(given.names))
    classifier = load(path, trust=given.trust, device=_device(given.device), **settings)
    classifier.notice = say
    if names := [name for name in overlooked(Path(path), classifier.settings) if name not in settings]:
        said = f"you have said something else of this model in the window ({', '.join(names)})"
        say(f"{classifier.name}: {said}; to use that here, give it with --model-set, or save it beside the model from the window.")
    return classifier.to(classifier.device, autocast=True) if given.autocast else classifier


def open_data(path: str, given: argparse.Namespace, say: Callable[[str], None]) -> Dataset:
    """Opens a dataset as the options say, and says what was guessed or left out."""
    from robgui.core.dataset import open_dataset
    from robgui.core.dataset.options import Options

    options: dict[str, Any] = pairs(given.data_set, Options.model_fields, "data option")
    dataset = open_dataset(path, **options)
    for note in dataset.notes:
        say(note if note.startswith(dataset.name) else f"{dataset.name}: {note}")
    return dataset


def chosen(dataset: Dataset, given: argparse.Namespace) -> list[int] | None:
    """The inputs that --index or --select name; None means all."""
    if given.index is not None:
        return indices("--index", given.index)
    if given.select is None:
        return None
    found = dataset.select(given.select)
    if not found:
        raise DataError(f"No input of {dataset.name} fits --select {given.select!r}; choose another selection.")
    return found


def _device(name: str) -> str | None:
    from robgui.core.loading import devices

    known = [device for device, _ in devices()]
    if name and name not in known and name != known[0].partition(":")[0]:
        raise ParamsError(f"There is no device {name!r} here; choose one of: {', '.join(known)}.")
    return name or None
