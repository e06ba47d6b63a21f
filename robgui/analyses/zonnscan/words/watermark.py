"""What a watermark check says: whether the uncertainty tells the two models apart."""

from __future__ import annotations

import math

import numpy as np

from robgui.analyses.zonnscan.params import WatermarkParams
from robgui.analyses.zonnscan.result import WatermarkResult
from robgui.analyses.zonnscan.words.figures import chance, mean_uncertainty
from robgui.analyses.zonnscan.words.pictures import enlarged
from robgui.analyses.zonnscan.words.populations import SURE
from robgui.core.finding import Finding
from robgui.core.offer import Offer
from robgui.core.text.words import count, number, percent
from robgui.core.verdict import Quantity, Status, Verdict


def verdict(result: WatermarkResult, params: WatermarkParams) -> Verdict:
    """Whether the two models can be told apart, and what the watermark cost."""
    return Verdict(
        # A mark that can be told is a risk for its owner and a proof for
        # others, never a failure of the model.
        status=Status.AT_RISK if told_apart(result) else Status.UNKNOWN,
        sentence=_sentence(result, params),
        number=_number(result),
        scope=_scope(result, params),
        because=tuple(_because(result, params)),
    )


def second_name(result: WatermarkResult, params: WatermarkParams) -> str:
    """What the second model is called in a sentence."""
    if params.mode == "make":
        return "its watermarked copy"
    return result.models[1]


def _sentence(result: WatermarkResult, params: WatermarkParams) -> str:
    first, second = result.models[0], second_name(result, params)
    if not result.runs_done.any():
        if params.mode == "make":
            steps = count(result.rounds, "step")
            return f"A copy of {first} is being taught the watermark: {steps} so far."
        return f"{first} and {second} are being compared; no run has ended yet."
    runs = int(result.runs_done.sum())
    if runs < params.runs:
        so_far = "So far the"
    else:
        so_far = "The"
    if told_apart(result):
        where = f"it differs around {_differ(result)} inputs"
        return f"{so_far} uncertainty tells {first} from {second}: {where}."
    if runs < 2:
        return f"One run cannot tell whether the uncertainty differs between {first} and {second}."
    return f"{so_far} uncertainty does not tell {first} from {second}."


def _differ(result: WatermarkResult) -> str:
    return f"{int(differing(result).sum()):,} of {len(result.keys):,}"


def _number(result: WatermarkResult) -> Quantity:
    name = "Inputs around which the uncertainty differs"
    if not result.runs_done.any():
        return Quantity(name, math.nan, text="no run has ended yet")
    if result.runs_done.sum() < 2:
        return Quantity(name, math.nan, text="not known from one run")
    return Quantity(name, float(differing(result).mean()), text=f"{_differ(result)} inputs")


def _tests(result: WatermarkResult) -> list[str]:
    """What the runs and the paper's test say."""
    runs = int(result.runs_done.sum())
    first, second = (mean_uncertainty(float(mean)) for mean in result.means)
    once, paper = chance(once_p(result)), chance(result.ks_p)
    scatter = f"Around {_differ(result)} inputs the two differ by more than {runs:,} runs scatter."
    if runs < 2:
        scatter = "One run cannot tell a difference from scatter."
    return [
        scatter,
        (
            f"Taken as two sets, mean uncertainty {first} and {second}: so far apart by chance with"
            f" {once}, every input counted once (Kolmogorov–Smirnov; {paper} with every run"
            " counted, as in the paper)."
        ),
    ]


def _scope(result: WatermarkResult, params: WatermarkParams) -> str:
    done = int(result.runs_done.sum())
    if done == params.runs:
        runs = count(done, "run")
    else:
        runs = f"{done:,} of {params.runs:,} runs so far"
    if params.mode == "make":
        what = "key input"
    else:
        what = "input"
    return f"{count(len(result.keys), what)}, radius {number(params.radius)}, {runs}."


def _because(result: WatermarkResult, params: WatermarkParams) -> list[str]:
    if result.runs_done.any():
        told = _tests(result)
    else:
        told = []
    if params.mode == "make":
        told += _learned(result, params)
    if np.isfinite(result.accuracy).all():
        first, second = (percent(float(share)) for share in result.accuracy)
        told.append(f"Of the inputs looked at they get {first} and {second} right.")
    elif math.isfinite(result.kept):
        told.append(f"{percent(result.kept)} of the inputs looked at keep their answer.")
    return [*told, f"{count(result.model_calls, 'model call')}."]


def _learned(result: WatermarkResult, params: WatermarkParams) -> list[str]:
    made = int(result.adversarial.sum())
    told = [
        (
            f"{made:,} of the key inputs fool {result.models[0]}: they were moved by"
            f" {number(params.eps)} against its gradient."
        )
    ]
    if (result.answers[1] >= 0).all():
        told.append(
            f"After {count(result.rounds, 'step')} of fine-tuning the copy gives {result.back:,} of"
            f" these {made:,} their class."
        )
    return told


def told_apart(result: WatermarkResult) -> bool:
    """Whether the uncertainty around any key input differs by more than chance."""
    return bool(differing(result).any())


def differing(result: WatermarkResult) -> np.ndarray:
    """Around which key inputs ``(n,)`` the uncertainty differs by more than the runs scatter.

    Student's test on the differences of the runs, whose samples are the same for both models; the
    level is divided among the inputs. One run cannot tell a difference from scatter.
    """
    from scipy import special

    # (runs, n), paired: both models saw the same samples in each run.
    apart = (result.index[1] - result.index[0])[result.runs_done]
    runs, inputs = apart.shape
    if runs < 2:
        return np.zeros(inputs, dtype=bool)
    # Two-sided, and shared by all inputs (Bonferroni).
    limit = special.stdtrit(runs - 1, 1 - SURE / 2 / inputs)
    scatter = apart.std(0, ddof=1) / math.sqrt(runs)
    return np.asarray(np.abs(apart.mean(0)) > limit * scatter)


def once_p(result: WatermarkResult) -> float:
    """The p value of the paper's test with one value for each input."""
    from scipy import stats

    first, second = result.index[:, result.runs_done].mean(1)
    return float(stats.ks_2samp(first, second).pvalue)


def findings(result: WatermarkResult, params: WatermarkParams) -> list[Finding]:
    """One finding when the uncertainty tells the two models apart: their boundaries differ."""
    if not told_apart(result) or not len(result.notable_inputs):
        return []
    (x,), moved = result.notable_inputs, result.moved
    place = int(moved.argmax())
    before, after = (result.labels[c] for c in result.answers[:, place])
    what = "the boundary has moved"
    if params.mode == "compare":
        what = f"the boundary is not that of {result.models[0]}"
    where = f"most around {result.keys[place]} (uncertainty {number(float(moved[place]))} apart)"
    detail = {
        "models": list(result.models),
        "ks_p": result.ks_p,
        "means": result.means.tolist(),
        "answers": [before, after],
        "place": int(result.numbers[place]),
        "back": result.back,
    }
    title, severity = f"{result.models[1]}: {what}, {where}", float(result.ks_statistic)
    return [Finding("changed boundary", title, severity, detail, enlarged(x, result.kind), x)]


def offers(result: WatermarkResult, params: WatermarkParams) -> list[Offer]:
    """The originals of the key inputs."""
    if not len(result.keys):
        return []
    places = tuple(int(place) for place in result.numbers)
    return [Offer("The originals of the key inputs", result.keys, places=places)]
