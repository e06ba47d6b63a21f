"""``robgui inspect``: shows what a model file, or data, contain."""

from __future__ import annotations

import dataclasses
import sys
from argparse import Namespace, RawDescriptionHelpFormatter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robgui.cli import Parser
from robgui.cli.options import named_settings
from robgui.cli.places import add_model_options, data_options, model_settings
from robgui.cli.printing import print_json, print_line
from robgui.core.dataset.options import Options
from robgui.core.execution.params.text import format_value
from robgui.core.identify import identify
from robgui.core.model.doubt.low_accuracy import Rightness, suspicion
from robgui.core.model.doubt.trying import WaysTried
from robgui.core.model.settings import ModelSettings
from robgui.core.text.words import count, percent

if TYPE_CHECKING:
    from robgui.cli.opening import Executor
    from robgui.core.model.card import ModelCard
    from robgui.core.model.preprocessing import Tried
    from robgui.core.model.trial import Trial


def inspect(words: list[str]) -> int:
    """Prints what a model file holds and, with data, how the model answers."""
    asked = parser()
    given = asked.parse_args(words)
    if given.guess and not given.data:
        asked.error("--guess needs labelled pictures; add --data PATH")
    settings, options = model_settings(given), data_options(given)
    from robgui.core.execution.choice import one_executor
    from robgui.core.execution.worker.terms import Terms

    executor = one_executor(Terms(notice=_say))
    try:
        if identify(Path(given.model)).data is not None:
            from robgui.cli.inspect_data import inspect_data

            return inspect_data(executor, given.model, options, given.json)
        return _inspect(executor, given, settings, options)
    finally:
        executor.close()


def parser() -> Parser:
    """What the command takes."""
    made = Parser(
        prog="robgui inspect",
        description="Says what a model file holds and how it behaves, or what data hold.",
        epilog=f"{named_settings('settings of the model', ModelSettings.model_fields)}\n\n"
        f"{named_settings('options of the data', Options.model_fields)}",
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("model", help="the model file or folder, or data alone")
    made.add_argument("--data", metavar="PATH", help="inputs to try it on")
    made.add_argument("--json", action="store_true", help="the same as JSON")
    made.add_argument(
        "--guess",
        action="store_true",
        help="try the usual preprocessings on labelled pictures, and say which is right most often",
    )
    add_model_options(made)
    return made


def _inspect(
    executor: Executor, given: Namespace, settings: dict[str, Any], options: dict[str, Any]
) -> int:
    from robgui.cli.opening import open_data, open_model

    card = open_model(executor, given.model, given, settings, _say)
    if not given.json:
        for name, value in facts(card).items():
            print_line(f"{name + ':':<14}{value}")
        # The data may take a while to open, and the model's lines are ready.
        sys.stdout.flush()
    document = _document(card)
    if given.data:
        data = open_data(executor, given.data, options, _say)
        both = {"model": card.fingerprint, "data": data.reference.fingerprint}
        trial: Trial = executor.ask("trial", **both)
        if trial.left_out:
            _say(f"Left out: {trial.left_out}")
        if given.guess:
            tried: WaysTried = executor.ask("ways", **both)
            document["ways"] = [_way_document(way) for way in tried.ways]
        else:
            tried = WaysTried([], "")
        document |= _trial_document(trial)
        if not given.json:
            _print(trial)
            _print_ways(tried)
        if not given.guess and (doubt := _doubt(card, trial)):
            _say(doubt)
    if given.json:
        print_json(document)
    return 0


def _say(sentence: str) -> None:
    print_line(sentence, sys.stderr)


def facts(card: ModelCard) -> dict[str, str]:
    """What is known about a model, in words."""
    if card.reason:
        reason = f" ({card.reason})"
    else:
        reason = ""
    settings = card.settings.model_dump(exclude_defaults=True, exclude={"kind", "shape", "labels"})
    labels = ", ".join(card.labels[:10]) + (", …" if card.classes > 10 else "")
    return {
        "model": card.name,
        "format": card.remarks[0] if card.remarks else "unknown",
        "kind": card.kind,
        "shape": " x ".join(map(str, card.shape)),
        "classes": f"{card.classes} ({labels})",
        "settings": "; ".join(
            f"{name} = {_short(format_value(value))}" for name, value in settings.items()
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
    if len(text) <= 60:
        return text
    return text[:57] + "..."


def _document(card: ModelCard) -> dict[str, object]:
    """The same as ``facts``, for programs."""
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


def _way_document(way: Tried) -> dict[str, object]:
    return {**dataclasses.asdict(way), "accuracy": way.accuracy}


def _doubt(card: ModelCard, trial: Trial) -> str:
    """What a low accuracy probably means, and how to find out."""
    if not trial.counted:
        return ""
    known = Rightness(trial.right, trial.counted, card.classes)
    if doubt := suspicion(known):
        return f"{doubt} --guess tries the usual ways and another order of the class names."
    return ""


def _print_ways(tried: WaysTried) -> None:
    """Prints the ways of feeding the model, best first, and the options for the best."""
    if tried.ways:
        most = max(way.counted for way in tried.ways)
        print_line(f"tried on {count(most, 'labelled input')}:")
    for way in tried.ways:
        if way.counted < most:
            few = f" (of {way.counted:,})"
        else:
            few = ""
        print_line(f"  {percent(way.accuracy):>8}  {way.name}{few}")
    if tried.remark:
        print_line(tried.remark)
    if not tried.ways:
        return
    best = tried.ways[0]
    # Ways are sorted with ties in the order tried, so the present settings win one.
    if best.name == "as it is":
        print_line("No other usual preprocessing is right more often than the present one.")
        return
    values = dict(best.settings)
    labels = values.pop("labels", ())
    words = [f"--model-set {name}={format_value(value)}" for name, value in values.items()]
    if labels:
        words.append("--model-set labels=FILE")
    print_line(f"To use {best.name}: {' '.join(words)}")
    if labels:
        print_line("FILE holds one name per line, in this order:")
        for name in labels:
            print_line(f"  {name}")


def _print(trial: Trial) -> None:
    print_line(f"{'data:':<14}{trial.data}, {count(trial.inputs, 'input')}")
    for answer in trial.answers:
        if answer.truth:
            truth = f", true class {answer.truth}"
        else:
            truth = ""
        print_line(f"  {answer.input}: {answer.predicted} ({percent(answer.probability)}{truth})")
    if trial.counted:
        words = f"{percent(trial.right / trial.counted)} of {count(trial.counted, 'input')}"
    else:
        words = "unknown, the data have no labels"
    if trial.labelled > trial.counted:
        more = f" (the first of {trial.labelled:,})"
    else:
        more = ""
    print_line(f"{'accuracy:':<14}{words}{more}")
