"""Evidence: a failure seen anywhere on a model and an input counts for every verdict on them.

A verdict is what one run says. What is shown must also be true beside everything else the workspace
knows, so every place that shows a verdict asks ``Evidence.shown`` for it. The stored verdict stays
as the run left it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from robgui.core.execution.likeness import is_of_one_input
from robgui.core.execution.registry import analyses
from robgui.core.text.words import count
from robgui.core.verdict import Status, Verdict

if TYPE_CHECKING:
    from robgui.core.execution.request import Request
    from robgui.core.execution.run import Run
    from robgui.core.finding import StoredFinding


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure that a run has seen.

    Attributes:
        run: Id of the run.
        analysis: Its analysis.
        inputs: Numbers of the failing inputs in the data; None for all the run looked at.
        words: What was seen, one sentence.
        severity: From 0 to 1.
        wrong: Whether the input as it is gets the wrong answer, not only after a change.
        apart: Whether it was seen after its run had ended and is missing from the run's verdict.
        fails: Whether it is a failure by its run's thresholds, not just a risk.
    """

    run: str
    analysis: str
    inputs: frozenset[int] | None
    words: str
    severity: float
    wrong: bool
    apart: bool = False
    fails: bool = False


class Evidence:
    """The failures that a workspace knows, by model and data.

    Args:
        runs: Every run.
        findings: Every finding.
    """

    def __init__(self, runs: Sequence[Run] = (), findings: Iterable[StoredFinding] = ()) -> None:
        self._seen: dict[tuple[str, str], list[Failure]] = {}
        found: dict[str, list[StoredFinding]] = {}
        for finding in findings:
            found.setdefault(finding.run_id, []).append(finding)
        for run in runs:
            for place, model in enumerate(run.request.models):
                data = run.request.dataset
                if data is not None:
                    # Fingerprints, not names: a corrected model is another model, and its failures
                    # are its own.
                    key = (model.fingerprint, data.fingerprint)
                    own = _failures(run, place, found.get(run.id, []))
                    self._seen.setdefault(key, []).extend(own)

    def against(self, request: Request, place: int = 0, run: str = "") -> list[Failure]:
        """The failures that other runs saw on a request's inputs and one of its models.

        Args:
            request: The request whose verdict is in question.
            place: Number of the model in it.
            run: Its own run, which is left out: the verdict already accounts for it.
        """
        if request.dataset is None or place >= len(request.models):
            return []
        key = (request.models[place].fingerprint, request.dataset.fingerprint)
        if request.indices is None:
            wanted = None
        else:
            wanted = frozenset(request.indices)
        seen = [
            one
            for one in self._seen.get(key, ())
            if (one.run != run or one.apart) and _overlap(one.inputs, wanted)
        ]
        # A wrong answer to the input as it is weighs more than any change that flips it.
        return sorted(seen, key=lambda one: (not one.wrong, -one.severity))

    def shown(self, said: Verdict, request: Request, run: str = "") -> Verdict:
        """The verdict to show: worse if another run saw the same model fail on the same input."""
        models = tuple(
            self._of_model(one, request, place, run) for place, one in enumerate(said.models)
        )
        if not said.models:
            return self._of_model(said, request, 0, run)
        # The headline speaks of all models, so it is never better than the worst of them.
        worst = min((said.status, *(one.status for one in models)), key=list(Status).index)
        return replace(said, status=worst, models=models)

    def _of_model(self, said: Verdict, request: Request, place: int, run: str) -> Verdict:
        seen = self.against(request, place, run)
        one = is_of_one_input(request)
        own = [other for other in seen if other.run == run]
        if said.status is Status.AT_RISK and one and own:
            seen = own  # Failures of this very run, seen after it ended.
        elif not seen or said.status not in (
            (Status.HOLDS, Status.UNKNOWN) if one else (Status.HOLDS,)
        ):
            return said
        worst = seen[0]
        # Another run's threshold is not this run's: its failure makes this one a risk, unless the
        # input itself is answered wrongly.
        fails = worst.wrong or (worst.fails and worst.run == run)
        if one and fails:
            status = Status.FAILS
        else:
            status = Status.AT_RISK
        if one:
            where = "the same input"
        elif request.indices is not None and len(request.indices) == 1:
            where = "its only input"
        else:
            where = "one of these inputs"
        # Several runs may tell the same failure in the same words; it is counted once.
        others = len({other.words for other in seen}) - 1
        if others:
            more = f" ({count(others, 'more failure')} known)"
        else:
            more = ""
        name, _, rest = worst.words.partition(": ")
        # The sentence names the model already; saying it again would read like another model.
        if rest and name in said.sentence:
            words = rest
        else:
            words = worst.words
        reason = f"But {_title(worst.analysis)} found on {where}: {words}{more}."
        alone = f"By itself this run says “{said.status.words}”; the failure seen outweighs it."
        return replace(
            said,
            status=status,
            sentence=f"{said.sentence} {reason}",
            because=(alone, *said.because),
        )


def _failures(run: Run, place: int, findings: Sequence[StoredFinding]) -> Iterator[Failure]:
    """What a run has seen of one of its models: its findings, or else its verdict."""
    request, said = run.request, None if run.verdict is None else run.verdict.of(place)
    name = request.models[place].name
    if request.indices is None:
        whole = None
    else:
        whole = frozenset(request.indices)
    one, any_found = is_of_one_input(request), False
    for finding in findings:
        if finding.confusion is None or finding.network not in ("", name):
            continue
        # A change larger than its own run asks the input to take refutes no other run.
        if finding.detail.get("beyond"):
            continue
        if one:
            inputs = whole
        else:
            inputs = _inputs(request, finding.places)
        # None is "all inputs of the run"; an empty set is a finding whose places the request no
        # longer has.
        if inputs is None or inputs:
            any_found = True
            yield Failure(
                run.id,
                request.analysis,
                inputs,
                _words(finding),
                finding.severity,
                finding.wrong,
                bool(finding.detail.get("apart")),
                bool(finding.detail.get("fails")),
            )
    # A verdict on many inputs says that some fail, not which, so only that of one input is
    # evidence.
    if one and not any_found and said is not None and said.status is Status.FAILS:
        yield Failure(run.id, request.analysis, whole, said.sentence.rstrip("."), 0.0, False)


def _words(finding: StoredFinding) -> str:
    """What a finding says of one input.

    A sentence about classes or a slice is true of them alone: of each input that it names, only
    that its answer is wrong.
    """
    if "place" not in finding.detail and finding.places:
        return "by its label, its answer is wrong"
    return finding.title.rstrip(".")


def _inputs(request: Request, places: Sequence[int]) -> frozenset[int]:
    """The numbers in the data of the inputs at these places of a request."""
    if request.indices is None:
        return frozenset(places)
    return frozenset(request.indices[at] for at in places if 0 <= at < len(request.indices))


def _overlap(one: frozenset[int] | None, other: frozenset[int] | None) -> bool:
    return one is None or other is None or bool(one & other)


def _title(analysis: str) -> str:
    known = analyses().get(analysis)
    if known is None:
        return analysis
    return known.title
