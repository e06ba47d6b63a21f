"""``robgui list`` and ``robgui inspect``: what there is to run, and what a model file holds."""

from __future__ import annotations

import dataclasses
import sys
from argparse import RawDescriptionHelpFormatter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robgui.cli import Parser
from robgui.cli.opening import add_model_options, open_data, open_model
from robgui.cli.options import describe, named_settings
from robgui.cli.printing import print_json, print_line
from robgui.core.dataset.options import Options
from robgui.core.execution.analysis import Analysis
from robgui.core.execution.method import methods, problems
from robgui.core.execution.params_text import write
from robgui.core.execution.registry import analyses, method_of
from robgui.core.model.settings import ModelSettings
from robgui.core.text.words import count

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.model.classifier import Classifier

_THUMBNAILS = 8
#: Accuracy is counted on so many inputs at most, so that inspecting stays quick.
_COUNTED = 2048


def list_analyses(words: list[str]) -> int:
    """Prints every analysis by method; one sentence warns of each that cannot be loaded."""
    parser = Parser(
        prog="robgui list", description="Lists the analyses, the question each answers, and their settings.", allow_abbrev=False
    )
    parser.add_argument("--json", action="store_true", help="as JSON, the settings of each analysis as a JSON schema")
    as_json = parser.parse_args(words).json
    for problem in problems():
        _say(f"Warning: {problem}")
    if as_json:
        print_json([_described(known) for known in analyses().values()])
        return 0
    for title, question, group in _groups():
        print(f"{title}: {question}" if question else title)
        for known in group:
            print(f"\n  {known.name.replace('_', '-')}: {known.title}\n    {known.question}")
            for name, field in known.params.model_fields.items():
                print(f"      --{name.replace('_', '-'):<20} {describe(field)}")
        print()
    return 0


def _groups() -> list[tuple[str, str, list[Analysis]]]:
    """The analyses by their method, in the order of the rail; title and question of each method."""
    grouped = [(method.title, method.question, list(method.analyses)) for method in methods()]
    loose = [known for known in analyses().values() if method_of(known.name) is None]
    return [*grouped, *([("Other analyses", "", loose)] if loose else [])]


def _described(known: Analysis) -> dict[str, object]:
    method = method_of(known.name)
    return {
        "name": known.name,
        "title": known.title,
        "question": known.question,
        "method": None if method is None else method.name,
        "settings": known.params.model_json_schema(),
    }


def inspect(words: list[str]) -> int:
    """Prints what a model file holds and, with data, how the model answers."""
    parser = Parser(
        prog="robgui inspect",
        description="Says what a model file holds and how it behaves.",
        epilog=f"{named_settings('settings of the model', ModelSettings.model_fields)}\n\n"
        f"{named_settings('options of the data', Options.model_fields)}",
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("model", help="the model file")
    parser.add_argument("--data", metavar="PATH", help="inputs to try it on")
    parser.add_argument("--json", action="store_true", help="the same as JSON")
    add_model_options(parser)
    given = parser.parse_args(words)
    classifier = open_model(given.model, given, _say)
    if not given.json:
        for name, value in facts(classifier).items():
            print_line(f"{name + ':':<14}{value}")
    trial = _try_on(classifier, open_data(given.data, given, _say)) if given.data else None
    if given.json:
        print_json({**_document(classifier), **(dataclasses.asdict(trial) if trial else {})})
    elif trial is not None:
        _print(trial)
    return 0


def _say(sentence: str) -> None:
    print_line(sentence, sys.stderr)


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
    many = classifier.parameters
    return "unknown (a black box)" if many is None else f"{many:,}"


def _document(classifier: Classifier) -> dict[str, object]:
    """The same as ``facts`` for programs."""
    able = classifier.capabilities
    return {
        "model": classifier.name,
        "kind": classifier.kind,
        "shape": classifier.shape,
        "classes": classifier.labels,
        "settings": classifier.settings.model_dump(mode="json"),
        "parameters": classifier.parameters,
        "gradients": able.gradients,
        "activations": able.activations,
        "reason": able.reason,
        "remarks": classifier.remarks,
        "device": str(classifier.device),
        "fingerprint": classifier.fingerprint,
    }


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model says of one input; ``truth`` is empty where the label is not known."""

    input: str
    predicted: str
    probability: float
    truth: str


@dataclass(frozen=True, slots=True)
class Trial:
    """A model tried on data: its answers to the first inputs, and how many of those with a label it has right."""

    data: str
    inputs: int
    answers: list[Answer]
    right: int
    counted: int
    labelled: int


def _try_on(classifier: Classifier, dataset: Dataset) -> Trial:
    from robgui.core.dataset import align, match

    classifier = match(classifier, dataset)
    fitting = align(classifier, dataset)
    right, counted, labelled = _accuracy(classifier, fitting)
    trial = Trial(fitting.name, len(fitting), _answers(classifier, fitting), right, counted, labelled)
    if lost := fitting.left_out():
        _say(f"Left out: {lost}")
    return trial


def _answers(classifier: Classifier, dataset: Dataset) -> list[Answer]:
    """Those to the first inputs that can be read."""
    from robgui.core.dataset import batches

    found: list[Answer] = []
    for indices, x in batches(classifier, dataset, _THUMBNAILS):
        for index, row in zip(indices, classifier.probs(x).cpu().numpy(), strict=True):
            best = int(row.argmax())
            found.append(Answer(dataset.key(index), classifier.labels[best], float(row[best]), _truth(classifier, dataset, index)))
        if len(found) >= _THUMBNAILS:
            break
    return found[:_THUMBNAILS]


def _truth(classifier: Classifier, dataset: Dataset, index: int) -> str:
    number = -1 if dataset.labels is None else int(dataset.labels[index])
    return "" if number < 0 else dataset.names[number] if number < len(dataset.names) else classifier.labels[number]


def _accuracy(classifier: Classifier, dataset: Dataset) -> tuple[int, int, int]:
    """How many are right, of how many, of how many with a label."""
    from robgui.core.dataset import batches

    if dataset.labels is None:
        return 0, 0, 0
    known = np.flatnonzero(dataset.labels >= 0)
    sample = dataset.subset(known[:_COUNTED])
    right = counted = 0
    for indices, x in batches(classifier, sample):
        assert sample.labels is not None
        right += int((classifier.probs(x).argmax(1).cpu().numpy() == sample.labels[indices]).sum())
        counted += len(indices)
    return right, counted, len(known)


def _print(trial: Trial) -> None:
    print_line(f"{'data:':<14}{trial.data}, {count(trial.inputs, 'input')}")
    for answer in trial.answers:
        truth = f", true class {answer.truth}" if answer.truth else ""
        print_line(f"  {answer.input}: {answer.predicted} ({answer.probability:.1%}{truth})")
    words = f"{trial.right / trial.counted:.1%} of {count(trial.counted, 'input')}" if trial.counted else "unknown, the data have no labels"
    more = f" (the first of {trial.labelled:,})" if trial.labelled > _COUNTED else ""
    print_line(f"{'accuracy:':<14}{words}{more}")
