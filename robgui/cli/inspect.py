"""``robgui list`` and ``robgui inspect``: what there is to run, and what a model file holds."""

from __future__ import annotations

import dataclasses
import sys
from argparse import Namespace, RawDescriptionHelpFormatter
from typing import TYPE_CHECKING, Any

from robgui.cli import Parser
from robgui.cli.opening import data_options, model_settings, open_data, open_model
from robgui.cli.options import describe, named_settings
from robgui.cli.places import add_model_options
from robgui.cli.printing import print_json, print_line
from robgui.core.dataset.options import Options
from robgui.core.execution.analysis import Analysis
from robgui.core.execution.choice import one_executor
from robgui.core.execution.method import methods, problems
from robgui.core.execution.params_text import write
from robgui.core.execution.registry import analyses, method_of
from robgui.core.execution.worker.slot import Terms
from robgui.core.model.settings import ModelSettings
from robgui.core.model.trial import COUNTED, Trial
from robgui.core.text.words import count, percent

if TYPE_CHECKING:
    from robgui.cli.opening import Executor
    from robgui.core.model.card import ModelCard


def list_analyses(words: list[str]) -> int:
    """Prints every analysis by method; one sentence warns of each that cannot be loaded."""
    parser = Parser(
        prog="robgui list",
        description="Lists the analyses, the question each answers, and their settings.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="as JSON, the settings of each analysis as a JSON schema",
    )
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
    settings, options = model_settings(given), data_options(given)
    executor = one_executor(Terms(notice=_say))
    try:
        return _inspect(executor, given, settings, options)
    finally:
        executor.close()


def _inspect(
    executor: Executor, given: Namespace, settings: dict[str, Any], options: dict[str, Any]
) -> int:
    card = open_model(executor, given.model, given, settings, _say)
    if not given.json:
        for name, value in facts(card).items():
            print_line(f"{name + ':':<14}{value}")
        sys.stdout.flush()
    trial: Trial | None = None
    if given.data:
        data = open_data(executor, given.data, options, _say)
        trial = executor.ask("trial", model=card.fingerprint, data=data.reference.fingerprint)
    if trial is not None and trial.left_out:
        _say(f"Left out: {trial.left_out}")
    if given.json:
        print_json({**_document(card), **({} if trial is None else _trial_document(trial))})
    elif trial is not None:
        _print(trial)
    return 0


def _say(sentence: str) -> None:
    print_line(sentence, sys.stderr)


def facts(card: ModelCard) -> dict[str, str]:
    """What there is to know about a model, in words."""
    reason = f" ({card.reason})" if card.reason else ""
    settings = card.settings.model_dump(exclude_defaults=True, exclude={"kind", "shape", "labels"})
    labels = ", ".join(card.labels[:10]) + (", …" if card.classes > 10 else "")
    return {
        "model": card.name,
        "format": card.remarks[0] if card.remarks else "unknown",
        "kind": card.kind,
        "shape": " x ".join(map(str, card.shape)),
        "classes": f"{card.classes} ({labels})",
        "settings": "; ".join(
            f"{name} = {_short(write(value))}" for name, value in settings.items()
        )
        or "all at their defaults",
        "parameters": "unknown (a black box)"
        if card.parameters is None
        else f"{card.parameters:,}",
        "gradients": ("yes" if card.gradients else "no") + ("" if card.gradients else reason),
        "activations": ("yes" if card.activations else "no") + ("" if card.activations else reason),
        "remarks": "; ".join(card.remarks[1:]) or "none",
        "device": card.device,
        "fingerprint": card.fingerprint,
    }


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _document(card: ModelCard) -> dict[str, object]:
    """The same as ``facts`` for programs."""
    return {
        "model": card.name,
        "kind": card.kind,
        "shape": card.shape,
        "classes": card.labels,
        "settings": card.settings.model_dump(mode="json"),
        "parameters": card.parameters,
        "gradients": card.gradients,
        "activations": card.activations,
        "reason": card.reason,
        "remarks": card.remarks,
        "device": card.device,
        "fingerprint": card.fingerprint,
    }


def _trial_document(trial: Trial) -> dict[str, object]:
    document = dataclasses.asdict(trial)
    del document["left_out"]
    return document


def _print(trial: Trial) -> None:
    print_line(f"{'data:':<14}{trial.data}, {count(trial.inputs, 'input')}")
    for answer in trial.answers:
        truth = f", true class {answer.truth}" if answer.truth else ""
        print_line(f"  {answer.input}: {answer.predicted} ({percent(answer.probability)}{truth})")
    words = (
        f"{percent(trial.right / trial.counted)} of {count(trial.counted, 'input')}"
        if trial.counted
        else "unknown, the data have no labels"
    )
    more = f" (the first of {trial.labelled:,})" if trial.labelled > COUNTED else ""
    print_line(f"{'accuracy:':<14}{words}{more}")
