"""Finds what ships beside the code: icons, the demo, meshes. Imports neither torch nor Qt."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from robgui.core.errors import RobguiError


@dataclass(frozen=True, slots=True)
class DemoEntry:
    """One dataset of the demo with the models that read it."""

    title: str
    description: str
    dataset: Path
    models: tuple[Path, ...]


#: Title, description, dataset and models of each demo entry; the files lie in resources/demo.
_DEMO = (
    (
        "Fashion-MNIST",
        "2,000 pictures of clothes in ten classes and three networks that do not always agree.",
        "fashion.npz",
        ("fashion_mlp.pt2", "fashion_cnn.safetensors", "fashion_rnn.pt"),
    ),
    (
        "Traffic lights",
        (
            "Generated street scenes with a red light, a green light or none, and a small"
            " convolutional network."
        ),
        "traffic",
        ("traffic_cnn.pt2",),
    ),
    (
        "Tumour table",
        "Measurements of breast tumours, benign or malignant, with a network and a random forest.",
        "table.csv",
        ("table_mlp.onnx", "table_forest.skops"),
    ),
)


def path(*parts: str) -> Path:
    """The file or folder ``parts`` below resources/; RobguiError if it is missing."""
    roots = [root for root in possible_roots() if root.is_dir()]
    if not roots:
        raise RobguiError(
            "The folder resources/ is missing beside the program; install robgui again."
        )
    found = roots[0].joinpath(*parts)
    if not found.exists():
        raise RobguiError(
            f"The resource {'/'.join(parts)} is missing in {roots[0]}; install robgui again."
        )
    return found


def demo() -> tuple[DemoEntry, ...]:
    """Everything that "Start demo" loads, in order."""
    return tuple(
        DemoEntry(
            title,
            description,
            path("demo", dataset),
            tuple(path("demo", model) for model in models),
        )
        for title, description, dataset, models in _DEMO
    )


def possible_roots() -> Iterator[Path]:
    """Where resources/ may be: in a frozen app, a wheel or a checkout."""
    frozen = getattr(sys, "_MEIPASS", None)
    if frozen is not None:
        yield Path(frozen) / "resources"
    package = Path(__file__).resolve().parent
    yield package / "_resources"
    yield package.parent / "resources"
