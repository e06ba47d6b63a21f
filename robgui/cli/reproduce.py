"""``robgui reproduce``: runs the papers' claims and shows them beside the papers' figures."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import textwrap
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robgui.cli import INTERRUPTED, Parser
from robgui.cli.progress import ProgressLine
from robgui.cli.signals import deaf
from robgui.core.codec import readable
from robgui.core.errors import ParamsError, RobguiError
from robgui.core.execution.carrying import versions
from robgui.core.execution.registry import find
from robgui.core.execution.step import Step
from robgui.core.files import write_whole
from robgui.core.text.words import duration
from robgui.reproduce.claim import Claim, Drawing, claims_of, methods

if TYPE_CHECKING:
    from robgui.report.drawing import Plate
    from robgui.reproduce.remote import ClaimsOrder

#: Exit code if a claim does not hold, or if none could be run: then nothing was shown.
NOT_SHOWN = 1
_FOLDER = "robgui-reproduce"
#: Width of the table without a terminal.
_WIDTH = 150


def reproduce(words: list[str]) -> int:
    """Runs the claims of one method or of all.

    Returns 0 if all that could be run hold, else 1.
    """
    given = parser().parse_args(words)
    if given.method == "all":
        chosen = methods()
    else:
        chosen = (given.method,)
    # An unknown method is refused now, not after the first one has computed for an hour.
    for method in chosen:
        claims_of(method)
    record = ReproductionRecord(_folder(given.out), vars(given))
    watcher = _Watcher()
    state = "done"
    try:
        for claim in _claims(chosen, given, watcher):
            watcher.say(f"{claim.statement}: {claim.verdict}")
            record.add(claim)
    except KeyboardInterrupt:
        state = "interrupted"
        watcher.say("robgui: interrupted; the claims so far are kept")
    finally:
        watcher.close()
    with deaf():
        # A second Ctrl-C must not cut the file short.
        record.write(state)
    print(table(record.claims, shutil.get_terminal_size((_WIDTH, 24)).columns))
    print(record.summary())
    if state == "interrupted":
        return INTERRUPTED
    return exit_code(record.claims)


def exit_code(claims: Sequence[Claim]) -> int:
    """0 if at least one claim could be run and all that could be run hold."""
    run = [claim.holds for claim in claims if claim.holds is not None]
    if run and all(run):
        return 0
    return NOT_SHOWN


def _claims(chosen: Sequence[str], given: argparse.Namespace, watcher: _Watcher) -> Iterator[Claim]:
    """The claims of these methods, computed in a worker process as every model is.

    A process that is lost costs the rest of one method; the next one gets a new process.
    """
    from robgui.core.execution.choice import one_executor
    from robgui.core.execution.worker.asked import LostError
    from robgui.core.execution.worker.terms import Terms
    from robgui.reproduce import remote

    order = _order(given)
    executor = one_executor(Terms(imports=(remote.__name__,), notice=watcher.say))
    try:
        remote.open_claim_models(executor, order.models, order.trust)
        for method in chosen:
            wanted = replace(order, method=method)
            try:
                yield from remote.remote_claims(executor, wanted, watcher.say, watcher.watch)
            except LostError as error:
                yield remote.unable(method, error)
    finally:
        executor.close()


def _order(given: argparse.Namespace) -> ClaimsOrder:
    from robgui.reproduce.remote import ClaimsOrder

    if given.seed < 0:
        raise ParamsError(f"--seed {given.seed}: the seed must be 0 or more.")
    if given.data is None:
        data = ""
    else:
        data = str(Path(given.data).expanduser())
    if data and not Path(data).exists():
        raise ParamsError(f"--data {given.data}: there is no such file or folder; check the path.")
    return ClaimsOrder(given.method, given.models, given.trust, data, given.quick, given.seed)


def _folder(out: str) -> Path:
    """The folder of the results, made before the work and not after it."""
    folder = Path(out).expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParamsError(
            f"--out {out}: the folder cannot be made ({error.strerror}); name another one."
        ) from error
    # An existing folder is not touched by mkdir, whoever owns it.
    if not os.access(folder, os.W_OK):
        raise ParamsError(f"--out {out}: nothing may be written there; name another folder.")
    return folder


class _Watcher:
    """Progress on stderr: one bar for each thing that is done."""

    def __init__(self) -> None:
        self._title = ""
        self._progress = ProgressLine("")

    def say(self, sentence: str) -> None:
        """Writes a line above the bar."""
        self._progress.say(sentence)

    def watch(self, title: str, step: Step[Any]) -> None:
        """Shows how far the thing called ``title`` is."""
        if title != self._title:
            self.close()
            self._title, self._progress = title, ProgressLine(title)
        self._progress.show(step)

    def close(self) -> None:
        """Leaves a clean line."""
        self._progress.close()


class ReproductionRecord:
    """What has been done so far, written after every claim: ``result.json`` and the figures."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        self.folder = folder
        self.claims: list[Claim] = []
        self._settings = settings
        self._rows: list[dict[str, Any]] = []
        self._began = self._last = time.monotonic()

    def add(self, claim: Claim) -> None:
        """Keeps a claim and draws its figures."""
        now = time.monotonic()
        self.claims.append(claim)
        self._rows.append(
            {
                **{
                    name: getattr(claim, name)
                    for name in (
                        "method",
                        "statement",
                        "paper",
                        "ours",
                        "holds",
                        "verdict",
                        "note",
                        "detail",
                    )
                },
                "figures": [name for drawing in claim.figures for name in self._draw(drawing)],
                "seconds": round(now - self._last, 3),
            }
        )
        self._last = now
        # After every claim, each of which may have taken minutes: a crash loses one.
        self.write("running")

    def write(self, state: str) -> None:
        """Writes ``result.json`` whole or not at all."""
        fields = {
            "state": state,
            "settings": self._settings,
            "seconds": round(time.monotonic() - self._began, 3),
            "versions": versions(),
            **self._counts(),
            "claims": self._rows,
        }
        text = (
            json.dumps(
                readable(fields, largest=100_000)[0], indent=1, allow_nan=False, ensure_ascii=False
            )
            + "\n"
        )
        self._put(self.folder / "result.json", text.encode())

    def summary(self) -> str:
        """How many hold, how long it took and where the results are, in one line."""
        counts = self._counts()
        numbers = (
            f"{counts['holds']} hold, {counts['does_not_hold']} do not hold, {counts['undecided']}"
            " undecided"
        )
        return (
            f"{numbers}; {duration(time.monotonic() - self._began)}; results and figures in"
            f" {self.folder}"
        )

    def _counts(self) -> dict[str, int]:
        verdicts = [claim.holds for claim in self.claims]
        return {
            "holds": verdicts.count(True),
            "does_not_hold": verdicts.count(False),
            "undecided": verdicts.count(None),
        }

    def _draw(self, drawing: Drawing) -> Iterator[str]:
        from robgui.report.drawing import save

        figure = figure_of(drawing)
        for kind in ("png", "svg"):
            name = f"{drawing.name}.{kind}"
            self._put(self.folder / name, save(figure, kind))
            yield name

    def _put(self, path: Path, content: bytes) -> None:
        try:
            write_whole(path, content)
        except OSError as error:
            raise RobguiError(
                f"{path} cannot be written ({error.strerror}); choose another folder with --out."
            ) from error


def figure_of(drawing: Drawing) -> Plate:
    """The views of an analysis' result in one figure."""
    from robgui.report.drawing import draw

    known = find(drawing.analysis)
    views = known.views(drawing.result, drawing.params or known.params.parse({}))
    return draw(views, title=drawing.title or drawing.name, subject=known.title)


def table(claims: Sequence[Claim], width: int) -> str:
    """The claims as a table of text, a note under each."""
    rows = [
        ("claim", "paper", "ours", "result"),
        *((claim.statement, claim.paper, claim.ours or "-", claim.verdict) for claim in claims),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        "  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    notes = [
        textwrap.fill(claim.note, max(60, width), initial_indent="    ", subsequent_indent="    ")
        for claim in claims
    ]
    body = [
        line for row, note in zip(lines[1:], notes, strict=True) for line in (row, note) if line
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *body])


def parser() -> Parser:
    """What the command takes."""
    made = Parser(
        prog="robgui reproduce",
        description=(
            "Runs the claims of the papers and says which hold. Exit code 0: all that could be run"
            " hold; 1: one does not, or none could be run; 130: interrupted, what was done is kept."
        ),
        allow_abbrev=False,
    )
    made.add_argument(
        "method", nargs="?", default="all", help=f"one of: {', '.join([*methods(), 'all'])} [all]"
    )
    made.add_argument(
        "--data",
        metavar="PATH",
        help="run on these instead of the bundled data, such as the folder of the MNIST IDX files",
    )
    made.add_argument(
        "--models",
        nargs="+",
        default=[],
        metavar="FILE",
        help="run on these models, in the order of the paper's table [bundled or trained]",
    )
    made.add_argument(
        "--out",
        metavar="FOLDER",
        default=_FOLDER,
        help=f"where to put result.json and the figures [./{_FOLDER}]",
    )
    made.add_argument(
        "--quick",
        action="store_true",
        help="small sizes: less than a minute on the bundled data, and less power",
    )
    made.add_argument(
        "--seed", type=int, default=0, metavar="N", help="start of all random numbers [0]"
    )
    made.add_argument(
        "--trust", action="store_true", help="the model files may execute code when they are read"
    )
    return made
