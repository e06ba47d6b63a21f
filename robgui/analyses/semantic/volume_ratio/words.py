"""What the safe share of the range says in words: its error, and a winner only beyond it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from robgui.analyses.semantic.result import SrvrResult
from robgui.analyses.semantic.volume_ratio.params import TITLE, SrvrParams
from robgui.analyses.semantic.words import (
    axes_words,
    range_words,
    sentence_case,
    setting_words,
    worst_status,
)
from robgui.core.finding import Finding
from robgui.core.text.words import count, percent
from robgui.core.verdict import Quantity, Status, Verdict


@dataclass(frozen=True, slots=True)
class SafeShare:
    """Mean share of the range that a region of one network fills, with its 95 % interval.

    Attributes:
        mean: nan before the first region is done.
        low: nan if fewer than two starts are done, which leaves the error unknown.
        high: Upper end.
        starts: Starts of all shapes that are done.
        lost: Starts among them that already lose the class.
    """

    mean: float
    low: float
    high: float
    starts: int
    lost: int

    @property
    def words(self) -> str:
        """``1.1 % (0 % to 4.6 %)``."""
        if math.isnan(self.mean):
            return "not known yet"
        if math.isnan(self.low):
            return f"{percent(self.mean)} (error not known)"
        return f"{percent(self.mean)} ({percent(self.low)} to {percent(self.high)})"


def safe_share(result: SrvrResult, network: int) -> SafeShare:
    """The safe share of one network."""
    each = _by_start(result, network)
    mean = float(result.srvr[network])
    half = _half_width(each)
    done = result.start_top1[network] >= 0
    lost = done & (result.start_top1[network] != result.target[:, None])
    # Student's interval may leave 0 to 1, a share cannot.
    low, high = max(0.0, mean - half), min(1.0, mean + half)
    if math.isnan(half):
        low = high = math.nan
    return SafeShare(mean, low, high, int(done.sum()), int(lost.sum()))


def winner(result: SrvrResult) -> int:
    """The network whose share leads by more than the error of the differences; -1 for none.

    Shapes and starts are the same for all, so differences are taken start by start.
    """
    known = np.flatnonzero(np.isfinite(result.srvr))
    # No winner while a network is missing: it may yet lead.
    if len(known) < 2 or len(known) < len(result.networks):
        return -1
    best = int(known[np.argmax(result.srvr[known])])
    for other in known:
        # Paired: what makes a start hard is hard for both and cancels.
        ahead = _by_start(result, best) - _by_start(result, int(other))
        ahead = ahead[np.isfinite(ahead)]
        if other != best and not (len(ahead) > 1 and ahead.mean() > _half_width(ahead)):
            return -1
    return best


def srvr_verdict(result: SrvrResult, params: SrvrParams) -> Verdict:
    """The share of every network with its error, and the best one if that can be told."""
    own = tuple(_of_network(result, params, network) for network in range(len(result.networks)))
    if len(own) == 1:
        return own[0]
    best = winner(result)
    known = np.flatnonzero(np.isfinite(result.srvr))
    if len(known):
        worst = int(known[np.argmin(result.srvr[known])])
    else:
        worst = 0
    return Verdict(
        status=worst_status(one.status for one in own),
        sentence=_ranking(result, best, known),
        number=_number(safe_share(result, worst), ", worst network"),
        scope=_scope(result),
        because=(*_lost_starts(result), *_each(result), _unseen(), _fates(result), _cost(result)),
        models=own,
    )


def srvr_findings(result: SrvrResult, params: SrvrParams) -> list[Finding]:
    """Shapes that a network does not recognise at any start."""
    findings = []
    for network, shape in np.argwhere(np.isfinite(result.start_score).all(2)):
        if params.mode == "adversarial" or result.grew[network, shape].any():
            continue
        name, owner = result.labels[result.target[shape]], result.networks[network]
        best = float(result.start_score[network, shape].max())
        where = f"around none of {count(len(result.starts), 'start')}"
        detail = {
            "class": name,
            "network": owner,
            "shape": result.shapes[shape],
            "best_start_score": best,
        }
        title = f"{result.shapes[shape]}: {owner} keeps “{name}” {where}"
        # At least one half: the class is lost at every start, however close the best came.
        findings.append(Finding("not recognised", title, 1 - best / 2, detail))
    return findings


def _of_network(result: SrvrResult, params: SrvrParams, network: int) -> Verdict:
    share = safe_share(result, network)
    return Verdict(
        status=_status(share, params),
        sentence=_sentence(result, params, network, share),
        number=_number(share),
        scope=_scope(result),
        because=(
            *_lost_starts(result, network),
            _enough(params),
            _unseen(),
            _fates(result, network),
            _cost(result),
        ),
    )


def _status(share: SafeShare, params: SrvrParams) -> Status:
    """Never HOLDS: the inside of the regions is not examined."""
    if math.isnan(share.mean):
        return Status.UNKNOWN
    if params.mode == "adversarial":
        if share.lost:
            return Status.FAILS
        return Status.UNKNOWN
    # One start has no interval; its value has to do.
    if math.isnan(share.high):
        high = share.mean
    else:
        high = share.high
    if share.lost:
        # A failure only if even the upper end lies below what is asked.
        if high < params.enough:
            return Status.FAILS
        return Status.AT_RISK
    if share.mean < params.enough:
        return Status.AT_RISK
    return Status.UNKNOWN


def _sentence(result: SrvrResult, params: SrvrParams, network: int, share: SafeShare) -> str:
    name, axes = result.networks[network], axes_words(result.axes)
    if math.isnan(share.mean):
        return f"{name}: no region has been grown yet over {axes}."
    if params.mode == "adversarial":
        around = f"A region grown around a pose that {name} gets wrong"
        return f"{around} fills on average {share.words} of {axes}."
    if not share.lost:
        start = "pose that it gets right"
    else:
        start = "start"
    fills = f"{name}: a region grown around a {start} fills on average {share.words} of {axes}"
    if not share.lost:
        return f"{fills}."
    return f"{fills}, and {share.lost} of {count(share.starts, 'start')} already lose the class."


def _ranking(result: SrvrResult, best: int, known: np.ndarray) -> str:
    axes = axes_words(result.axes)
    if not len(known):
        return f"No region has been grown yet over {axes}."
    order = known[np.argsort(-result.srvr[known], kind="stable")]
    words = [f"{safe_share(result, int(m)).words} for {result.networks[m]}" for m in order]
    fills = f"on average a region fills this share of {axes}"
    if len(known) < len(result.networks):
        return f"So far, {fills}: {', '.join(words)}."
    if best >= 0:
        leader = result.networks[best]
        return f"{leader} has the largest regions; {fills}: {words[0]}, next {words[1]}."
    least, most = (percent(float(result.srvr[m])) for m in (order[-1], order[0]))
    unsure = any(math.isnan(safe_share(result, int(m)).low) for m in known)
    error = " (error not known)" if unsure else ""
    return (
        f"A region fills on average {least} to {most}{error} of {axes}; the {len(known)} networks"
        " cannot be told apart."
    )


def _number(share: SafeShare, of: str = "") -> Quantity:
    title, low, high = f"{TITLE}{of}", share.low, share.high
    return Quantity(title, share.mean, "", low, high, better="high", text=share.words)


def _scope(result: SrvrResult) -> str:
    if len(result.shapes) == 1:
        shapes = result.shapes[0]
    else:
        shapes = count(len(result.shapes), "shape")
    names = list(dict.fromkeys(result.labels[c] for c in result.target if c >= 0))
    if len(names) == 1:
        what = f"“{names[0]}” of {shapes}"
    else:
        what = shapes
    if len(result.methods) > 1:
        ways = f"{len(result.methods)} ways to grow"
    else:
        ways = "one way to grow"
    done, all_of = int(result.regions.sum()), result.volume.size
    if done == all_of:
        progress = ""
    else:
        progress = f"; {done:,} of {count(all_of, 'region')} done so far"
    starts = f"the same {count(len(result.starts), 'start')} for every network, {ways}"
    return f"{sentence_case(what)} over {range_words(result.axes)}; {starts}{progress}."


def _lost_starts(result: SrvrResult, network: int | None = None) -> tuple[str, ...]:
    """Starts that lose the class count as 0 %, which says little about the rest of the range."""
    chosen = range(len(result.networks)) if network is None else [network]
    shares = [safe_share(result, m) for m in chosen]
    lost, starts = sum(one.lost for one in shares), sum(one.starts for one in shares)
    if not lost:
        return ()
    already = f"{lost} of {count(starts, 'start')} already lose the class and count as 0 %"
    return (f"{already}; elsewhere it may survive, which the map shows.",)


def _each(result: SrvrResult) -> tuple[str, ...]:
    names = enumerate(result.networks)
    return tuple(f"{name}: {safe_share(result, m).words}." for m, name in names)


def _enough(params: SrvrParams) -> str:
    if params.mode == "robust":
        return f"Asked: at least {setting_words(params.enough)}."
    return ""


def _unseen() -> str:
    error = "The intervals are of 95 % over shapes and starts"
    return f"{error}; what is inside a region is not looked at here, Regions counts it."


def _fates(result: SrvrResult, network: int | None = None) -> str:
    def total(values: np.ndarray) -> int:
        return int(values.sum() if network is None else values[network])

    parts = (
        (total(result.never_grew), "never grew"),
        (total(result.hits), "reached the end of the range"),
        (total(result.unconverged), "still growing when stopped"),
    )
    fates = ", ".join(f"{many} {words}" for many, words in parts)
    return f"{count(total(result.regions), 'region')}: {fates}."


def _cost(result: SrvrResult) -> str:
    return f"{count(result.model_calls, 'model call')}."


def _by_start(result: SrvrResult, network: int) -> np.ndarray:
    """Share of the range ``(K P,)`` around every start, the mean of the ways to grow."""
    return np.asarray(result.volume[network].mean(-1).reshape(-1))


def _half_width(values: np.ndarray) -> float:
    """Half the 95 % interval of a mean; nan with fewer than two values."""
    known = values[np.isfinite(values)]
    if len(known) < 2:
        return math.nan
    # Imported late: scipy takes long, and words are made in the window too.
    from scipy.stats import t

    error = float(known.std(ddof=1)) / math.sqrt(len(known))
    return float(t.ppf(0.975, len(known) - 1)) * error
