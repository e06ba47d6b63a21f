"""``robgui list`` and ``robgui inspect``: what there is to run, and what a model file holds."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from robgui.cli import Parser
from robgui.cli.opening import add_model_options, open_data, open_model
from robgui.cli.options import describe
from robgui.core.analysis import analyses
from robgui.core.params_text import write

if TYPE_CHECKING:
    from robgui.core.classifier import Classifier
    from robgui.core.dataset import Dataset

_THUMBNAILS = 8
#: Accuracy is counted on so many inputs at most, so that inspecting stays quick.
_COUNTED = 2048


def list_analyses(words: list[str]) -> int:
    """Prints every analysis with its question and settings."""
    parser = Parser(
        prog="robgui list", description="Lists the analyses, the question each answers, and their settings.", allow_abbrev=False
    )
    parser.parse_args(words)
    for name, known in analyses().items():
        print(f"{name.replace('_', '-')}: {known.title}\n  {known.question}")
        for field_name, field in known.params.model_fields.items():
            print(f"    --{field_name.replace('_', '-'):<20} {describe(field)}")
    return 0


def inspect(words: list[str]) -> int:
    """Prints what a model file holds and, with data, how the model answers."""
    parser = Parser(prog="robgui inspect", description="Says what a model file holds and how it behaves.", allow_abbrev=False)
    parser.add_argument("model", help="the model file")
    parser.add_argument("--data", metavar="PATH", help="inputs to try it on")
    add_model_options(parser)
    given = parser.parse_args(words)
    classifier = open_model(given.model, given, lambda sentence: print(sentence, file=sys.stderr))
    for name, value in facts(classifier).items():
        print(f"{name + ':':<14}{value}")
    if given.data:
        _try_on(classifier, open_data(given.data, given))
    return 0


def facts(classifier: Classifier) -> dict[str, str]:
    """What there is to know about a model, in words."""
    able = classifier.capabilities
    reason = f" ({able.reason})" if able.reason else ""
    settings = classifier.settings.model_dump(exclude_defaults=True, exclude={"kind", "shape", "labels"})
    labels = ", ".join(classifier.labels[:10]) + (", …" if classifier.classes > 10 else "")
    return {
        "model": classifier.name,
        "format": classifier.remarks[0] if classifier.remarks else "unknown",
        "kind": classifier.kind,
        "shape": " x ".join(map(str, classifier.shape)),
        "classes": f"{classifier.classes} ({labels})",
        "settings": "; ".join(f"{name} = {_short(write(value))}" for name, value in settings.items()) or "all at their defaults",
        "parameters": _count(classifier),
        "gradients": ("yes" if able.gradients else "no") + ("" if able.gradients else reason),
        "activations": ("yes" if able.activations else "no") + ("" if able.activations else reason),
        "remarks": "; ".join(classifier.remarks[1:]) or "none",
        "device": str(classifier.device),
        "fingerprint": classifier.fingerprint,
    }


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _count(classifier: Classifier) -> str:
    count = classifier.parameters
    return "unknown (a black box)" if count is None else f"{count:,}"


def _try_on(classifier: Classifier, dataset: Dataset) -> None:
    from robgui.core.dataset import align, inputs, match

    classifier = match(classifier, dataset)
    fitting = align(classifier, dataset)
    print(f"{'data:':<14}{fitting.name}, {len(fitting):,} inputs")
    shown = min(_THUMBNAILS, len(fitting))
    probabilities = classifier.probs(inputs(classifier, fitting, range(shown))).cpu().numpy()
    for index, row in enumerate(probabilities):
        best = int(row.argmax())
        true = (
            "" if fitting.labels is None or fitting.labels[index] < 0 else f", true class {classifier.labels[int(fitting.labels[index])]}"
        )
        print(f"  {fitting.key(index)}: {classifier.labels[best]} ({row[best]:.1%}{true})")
    print(f"{'accuracy:':<14}{_accuracy(classifier, fitting)}")


def _accuracy(classifier: Classifier, dataset: Dataset) -> str:
    from robgui.core.dataset import batches

    known = np.flatnonzero(dataset.labels >= 0) if dataset.labels is not None else np.empty(0, np.int64)
    if dataset.labels is None or not len(known):
        return "unknown, the data have no labels"
    sample = dataset.subset(known[:_COUNTED])
    right = seen = 0
    for indices, x in batches(classifier, sample):
        assert sample.labels is not None
        right += int((classifier.probs(x).argmax(1).cpu().numpy() == sample.labels[indices]).sum())
        seen += len(indices)
    return f"{right / max(seen, 1):.1%} of {seen:,} inputs" + (f" (the first of {len(known):,})" if len(known) > _COUNTED else "")
