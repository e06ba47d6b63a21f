"""Claims computed where models are: in a worker process, which runs the code of foreign models.

The worker computes on a thread of its own and is asked for news again and again, because a claim
may take minutes and progress is shown meanwhile.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from robgui.core.codec import put_together, readable, take_apart
from robgui.core.errors import RobguiError
from robgui.core.execution.asking.question import Question
from robgui.core.execution.asking.questions import register_question
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.registry import find
from robgui.core.execution.step import Step
from robgui.reproduce.claim import Claim, Drawing, Setting, claims_of

if TYPE_CHECKING:
    from robgui.core.execution.inline import Inline
    from robgui.core.execution.worker.workers import Workers
    from robgui.core.model.classifier import Classifier
    from robgui.reproduce.claim import Say, Watch

#: Longest that a question for news waits for some, in seconds.
_WAIT_SECONDS = 0.2
#: Largest array of a claim's detail, in numbers.
LARGEST_DETAIL = 100_000


@dataclass(frozen=True, slots=True)
class ClaimsOrder:
    """Whose claims to run and on what; plain values, which travel to another process.

    Attributes:
        method: Name of the method.
        models: Paths of models to run on instead of bundled or newly trained ones.
        trust: Whether the model files may execute code when they are read.
        data: Path of the data to run on; empty for the bundled ones.
        quick: Small sizes.
        seed: Start of all random numbers.
    """

    method: str
    models: Sequence[str] = ()
    trust: bool = False
    data: str = ""
    quick: bool = False
    seed: int = 0


@dataclass(frozen=True, slots=True)
class SentDrawing:
    """A Drawing on its way: its result taken apart, to be put together as its analysis says."""

    name: str
    analysis: str
    title: str
    params: dict[str, Any] | None
    document: dict[str, Any]
    arrays: dict[str, np.ndarray]


@dataclass(frozen=True, slots=True)
class SentClaim:
    """A Claim on its way."""

    method: str
    statement: str
    paper: str
    ours: str
    holds: bool | None
    note: str
    detail: dict[str, Any]
    figures: list[SentDrawing]


@dataclass(frozen=True, slots=True)
class ClaimProgress:
    """How far the thing called ``title`` is."""

    title: str
    done: int
    total: int | None
    note: str


@dataclass(frozen=True, slots=True)
class ClaimNews:
    """One thing that has happened: a sentence, progress, a claim or the end."""

    sentence: str = ""
    progress: ClaimProgress | None = None
    claim: SentClaim | None = None
    over: bool = False


def open_claim_models(executor: Inline | Workers, models: Sequence[str], trust: bool) -> None:
    """Opens models where the claims will be computed; errors are raised."""
    executor.ask("claims_models", models=list(models), trust=trust)


def remote_claims(
    executor: Inline | Workers, order: ClaimsOrder, say: Say, watch: Watch
) -> Iterator[Claim]:
    """The claims of a method, computed by an executor whose workers have imported this module."""
    executor.ask("claims_begin", **asdict(order))
    while True:
        news: list[ClaimNews] = executor.ask("claims_news")
        for each in news:
            if each.sentence:
                say(each.sentence)
            if each.progress is not None:
                far = each.progress
                watch(far.title, Step(far.done, far.total, None, far.note))
            if each.claim is not None:
                yield _received(each.claim)
            if each.over:
                return


def _received(claim: SentClaim) -> Claim:
    figures = tuple(_drawing(each) for each in claim.figures)
    plain = {name: getattr(claim, name) for name in _PLAIN}
    return Claim(**plain, detail=claim.detail, figures=figures)


def _drawing(sent: SentDrawing) -> Drawing:
    known = find(sent.analysis)
    result = put_together(known.result, sent.document, sent.arrays)
    if sent.params is None:
        params = None
    else:
        params = known.params.parse(sent.params)
    return Drawing(sent.name, sent.analysis, result, sent.title, params)


_PLAIN = ("method", "statement", "paper", "ours", "holds", "note")


# The rest is on the side of the worker.


class Reproduction:
    """Claims being computed on a thread, and what has happened since somebody asked."""

    def __init__(self, method: str, setting: Setting, news: queue.SimpleQueue[ClaimNews]) -> None:
        self._news = news
        self._problem: BaseException | None = None
        # A daemon: the process may leave while a model loops for ever.
        threading.Thread(target=self._compute, args=(method, setting), daemon=True).start()

    def news(self) -> list[ClaimNews]:
        """What has happened; empty if nothing has for a while."""
        found: list[ClaimNews] = []
        # Looked at first: what came before a problem is in the queue by then, and is handed out.
        problem = self._problem
        try:
            found.append(self._news.get(timeout=_WAIT_SECONDS))
            while True:
                found.append(self._news.get_nowait())
        except queue.Empty:
            pass
        if problem is not None and not found:
            raise problem
        return found

    def _compute(self, method: str, setting: Setting) -> None:
        try:
            for claim in claims_of(method)(setting):
                self._news.put(ClaimNews(claim=_sent(claim)))
        except RobguiError as error:
            # What keeps the whole method from running is one claim that says so.
            self._news.put(ClaimNews(claim=_sent(unable(method, error))))
        except BaseException as error:  # noqa: BLE001 - SystemExit of foreign code too; raised for whoever asks
            self._problem = error
            return
        self._news.put(ClaimNews(over=True))


def unable(method: str, error: RobguiError) -> Claim:
    """The claim in place of all those of a method that could not be run."""
    return Claim(method, f"{method}: the claims of the paper", "", "", None, str(error))


def _sent(claim: Claim) -> SentClaim:
    detail, _ = readable(claim.detail, largest=LARGEST_DETAIL)
    plain = {name: getattr(claim, name) for name in _PLAIN}
    return SentClaim(**plain, detail=detail, figures=[_sent_drawing(one) for one in claim.figures])


def _sent_drawing(drawing: Drawing) -> SentDrawing:
    document, arrays = take_apart(drawing.result)
    if drawing.params is None:
        params = None
    else:
        params = drawing.params.model_dump(mode="json")
    return SentDrawing(drawing.name, drawing.analysis, drawing.title, params, document, arrays)


#: The models of claims and the claims under way, of each set of loaded models.
_models: WeakKeyDictionary[LoadedCache, dict[tuple[str, ...], tuple[Classifier, ...]]]
_models = WeakKeyDictionary()
_begun: WeakKeyDictionary[LoadedCache, Reproduction] = WeakKeyDictionary()


def _open(shelf: LoadedCache, models: Sequence[str], trust: bool) -> tuple[Classifier, ...]:
    """The models, each opened once in this process."""
    from robgui.core.loading import load

    known = _models.setdefault(shelf, {})
    key = tuple(models)
    if key not in known:
        known[key] = tuple(load(path, trust=trust) for path in models)
    return known[key]


def _answer_models(shelf: LoadedCache, models: list[str], trust: bool) -> bool:
    _open(shelf, models, trust)
    return True


def _answer_begin(shelf: LoadedCache, **values: Any) -> bool:
    order = ClaimsOrder(**values)
    news: queue.SimpleQueue[ClaimNews] = queue.SimpleQueue()
    setting = Setting(
        data=Path(order.data) if order.data else None,
        models=_open(shelf, order.models, order.trust),
        quick=order.quick,
        seed=order.seed,
        say=lambda sentence: news.put(ClaimNews(sentence)),
        watch=lambda title, step: news.put(
            ClaimNews(progress=ClaimProgress(title, step.done, step.total, step.note))
        ),
    )
    _begun[shelf] = Reproduction(order.method, setting, news)
    return True


def _answer_news(shelf: LoadedCache) -> list[ClaimNews]:
    return _begun[shelf].news()


register_question(Question("claims_models", _answer_models, bool))
register_question(Question("claims_begin", _answer_begin, bool))
register_question(Question("claims_news", _answer_news, list[ClaimNews]))
