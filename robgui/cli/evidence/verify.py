"""``robgui verify``: is a report what its runs say, and do they say it again?"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robgui.cli import GATE_FAILED, Parser
from robgui.core.errors import ParamsError, RobguiError

if TYPE_CHECKING:
    from robgui.cli.opening import Executor
    from robgui.cli.progress import ProgressLine
    from robgui.core.execution.request import Reference
    from robgui.core.experiment import Experiment

#: Largest report, which is read whole.
_LARGEST = 500_000_000
_LOOK_SECONDS = 0.1
#: A run that took this share of its time limit was ended by the clock.
#: Engines that share their time out plan with 95 % of it.
_NEARLY = 0.9


def verify(words: list[str]) -> int:
    """Compares what a report prints with its record, and some runs with their repetition."""
    given = parser().parse_args(words)
    path = Path(given.report)
    experiments = _experiments(path)
    from robgui.cli.printing import print_line

    wrong = list(_printed(path, experiments))
    for sentence in wrong:
        print_line(f"✗ {sentence}")
    done = "none was computed again; name its models and data with --model and --data"
    if given.model and given.runs:
        agreed, differ, unsure = _compute(given, experiments)
        wrong += differ
        done = f"{agreed:,} of {agreed + len(differ) + unsure:,} computed again agree"
    print_line(f"{path.name}: {len(experiments):,} runs, {len(wrong):,} problems; {done}.")
    if wrong:
        return GATE_FAILED
    return 0


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = Parser(
        prog="robgui verify",
        description=(
            "Compares what a report prints with the record it carries, and runs some of its"
            " experiments again, drawn at random. A figure (PNG, SVG, PDF) carries one, too."
        ),
        epilog=(
            "exit codes: 0 everything agrees, 1 something does not, 2 bad input. Numbers may move"
            " by a thousandth, as another size of batch moves them."
        ),
        allow_abbrev=False,
    )
    made.add_argument("report", help="the report (HTML, PDF) or figure (PNG, SVG, PDF)")
    made.add_argument(
        "--runs", type=_many, default=3, metavar="N", help="how many are run again [3]"
    )
    made.add_argument("--seed", type=int, default=0, metavar="N", help="which ones are drawn [0]")
    for option, what in (("--model", "a model"), ("--data", "data")):
        made.add_argument(
            option,
            action="append",
            default=[],
            metavar="PATH",
            help=f"{what} of the report, known again by its content (may be repeated)",
        )
    made.add_argument(
        "--trust", action="store_true", help="the model files may execute code when they are read"
    )
    return made


def _experiments(path: Path) -> list[Experiment]:
    from robgui.core.experiment import experiments_in

    try:
        found = experiments_in(path)
    except OSError as error:
        raise ParamsError(
            f"{path} cannot be read ({error.strerror}); name a report or a figure."
        ) from error
    except ValueError as error:
        raise ParamsError(f"{path}: a record that it carries is damaged ({error}).") from error
    if not found:
        raise ParamsError(
            f"{path} carries no run: it was written by an earlier version, or is no report; write"
            " it again with 'robgui report'."
        )
    return found


def _printed(path: Path, experiments: Sequence[Experiment]) -> Iterator[str]:
    """Where a page contradicts its record; other files print nothing to compare."""
    from robgui.core.regular import read_regular
    from robgui.report.verify.comparing import misprints
    from robgui.report.verify.reading import read_report_page
    from robgui.report.verify.seal import is_whole

    content = read_regular(path, _LARGEST)
    for one in experiments:
        if one.fingerprint and one.request.analysis and not one.whole and _complete(one):
            yield f"run {one.run}: its settings are not those that its fingerprint stands for."
    # A byte order mark or blank lines in front still make a page.
    if content.lstrip(b"\xef\xbb\xbf \r\n\t")[:9].lower() != b"<!doctype":
        return
    page = content.decode("utf-8", "replace")
    if is_whole(page) is False:
        yield "The page was changed after it was written."
    yield from misprints(read_report_page(page), experiments)


def _complete(experiment: Experiment) -> bool:
    """Whether the record of a request is complete.

    A file in its settings is recorded without its folder, and an analysis may be unknown here.
    """
    from robgui.core.execution.registry import analyses

    known = experiment.request.analysis in analyses()
    named = [value for value in experiment.request.params.values() if isinstance(value, str)]
    return known and not any(Path(value).suffix for value in named)


def _compute(
    given: argparse.Namespace, experiments: Sequence[Experiment]
) -> tuple[int, list[str], int]:
    """Repeats some runs: how many agree, what differs, and how many were ended by the clock."""
    from robgui.cli.opening import computing
    from robgui.cli.printing import print_line

    agreed, differ, unsure = 0, [], 0
    with computing("Computing again") as (executor, progress):
        places = _Places(executor, given)
        ready = [one for one in experiments if places.can(one)]
        if not ready:
            raise ParamsError(
                f"None of the runs can be computed again: {'; '.join(places.problems[:3])}."
            )
        # Seeded: whoever doubts the outcome can draw the same runs.
        drawn = random.Random(given.seed).sample(ready, min(given.runs, len(ready)))
        for one in drawn:
            said = _again(one, places, executor, progress)
            if not said:
                agreed += 1
                print_line(f"✓ run {one.run}: {one.request.analysis}: the same again")
            elif _by_the_clock(one):
                unsure += 1
                print_line(f"? run {one.run}: {said}; it was ended by the clock, so it may")
            else:
                differ.append(f"run {one.run}: {said}")
                print_line(f"✗ {differ[-1]}")
    return agreed, differ, unsure


def _again(
    experiment: Experiment, places: _Places, executor: Executor, progress: ProgressLine
) -> str:
    """What is different this time; empty if nothing is."""
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.step import Step
    from robgui.report.verify.comparing import disagreement

    request, trusted = places.filled(experiment)
    execution = Execution(request, None, trusted=trusted)
    executor.submit(execution)
    while not execution.state.ended:
        executor.work(_LOOK_SECONDS)
        if execution.done:
            progress.show(Step(execution.done, execution.total, None))
    progress.close()
    if execution.verdict is None or execution.error:
        return execution.error or "it has no result this time"
    recorded = experiment.said
    if recorded is None:
        return ""
    return disagreement(recorded, execution.verdict)


def _by_the_clock(experiment: Experiment) -> bool:
    most = experiment.request.params.get("max_seconds")
    return isinstance(most, int | float) and 0 < _NEARLY * most <= experiment.seconds


class _Places:
    """Where the models and data of a report are, by their content."""

    def __init__(self, executor: Executor, given: argparse.Namespace) -> None:
        self._executor = executor
        self._given = given
        self._found: dict[str, Any] = {}
        self.problems: list[str] = []

    def can(self, experiment: Experiment) -> bool:
        """Whether a run can be repeated with what is at hand."""
        request = experiment.request
        if experiment.state != "done" or not experiment.whole:
            if experiment.state != "done":
                why = "it was stopped"
            else:
                why = "a setting names a file"
            self.problems.append(f"run {experiment.run}: {why}")
            return False
        data = () if request.dataset is None else (request.dataset,)
        return all(self._find(one) for one in (*request.models, *data))

    def filled(self, experiment: Experiment) -> tuple[Any, frozenset[str]]:
        """The request with the files at hand, and the code that may run for it."""
        request = experiment.request
        cards = [self._found[model.fingerprint] for model in request.models]
        data = request.dataset
        filled = request.model_copy(
            update={
                "models": tuple(card.reference() for card in cards),
                "dataset": None if data is None else self._found[data.fingerprint].reference,
                # The machine of the report may have had a card that this one lacks.
                "device": cards[0].device,
            }
        )
        return filled, frozenset(card.ran for card in cards if card.ran)

    def _find(self, wanted: Reference) -> bool:
        if wanted.fingerprint not in self._found:
            if wanted.kind == "model":
                paths = self._given.model
            else:
                paths = self._given.data
            # The file of that name first, as opening a wrong model takes its time.
            named = sorted(paths, key=lambda path: Path(path).name != wanted.name)
            why = f"{wanted.name} ({wanted.fingerprint}) is not among the files given"
            for path in named:
                try:
                    card, mark = self._open(wanted, path)
                except RobguiError as error:
                    why = str(error).rstrip(".")
                    continue
                if mark == wanted.fingerprint:
                    self._found[wanted.fingerprint] = card
                    return True
            self.problems.append(why)
        return wanted.fingerprint in self._found

    def _open(self, wanted: Reference, path: str) -> tuple[Any, str]:
        options = dict(wanted.options)
        if wanted.kind == "dataset":
            card = self._executor.ask("data", path=path, options=options, query=None)
            return card, card.reference.fingerprint
        values = {"trust": self._given.trust, "device": "", "autocast": False}
        card = self._executor.ask("model", path=path, settings=options, **values)
        return card, card.fingerprint


def _many(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError("write a whole number")
    return int(text)
