"""What a search for corner cases says: on how many inputs the models disagree, and who is wrong."""

from __future__ import annotations

import numpy as np

from robgui.analyses.zonnscan.params import CornerCasesParams
from robgui.analyses.zonnscan.result import CornerCasesResult
from robgui.analyses.zonnscan.words.figures import chance
from robgui.analyses.zonnscan.words.pictures import enlarged
from robgui.analyses.zonnscan.words.populations import told_apart
from robgui.core.finding import Finding
from robgui.core.offer import Offer
from robgui.core.text.words import count, number, percent
from robgui.core.verdict import Quantity, Status, Verdict


def verdict(result: CornerCasesResult, params: CornerCasesParams) -> Verdict:
    """On how many inputs the models disagree; each such input is an error of one of them."""
    found = len(result.numbers)
    if result.looked:
        share = found / result.looked
    else:
        share = float("nan")
    return Verdict(
        # Never "holds": models that agree may be wrong together.
        status=Status.FAILS if found else Status.UNKNOWN,
        sentence=_sentence(result, share),
        number=Quantity("Inputs the models disagree on", share, better="low", text=percent(share)),
        scope=_scope(result),
        because=tuple(_because(result, params)),
        models=tuple(_of_model(result, place) for place in range(len(result.models))),
    )


def _so_far(result: CornerCasesResult) -> bool:
    return result.looked < result.chosen


def _sentence(result: CornerCasesResult, share: float) -> str:
    models, found = f"{len(result.models)} models", len(result.numbers)
    if _so_far(result):
        so_far = "So far, the"
    else:
        so_far = "The"
    if not result.looked:
        return f"The {models} have not all seen an input yet."
    if found:
        seen = f"{found:,} of {count(result.looked, 'input')} ({percent(share)})"
        return f"{so_far} {models} disagree on {seen}."
    every = "all " if result.looked != 1 else ""
    return f"{so_far} {models} agree on {every}{count(result.looked, 'input')}."


def _scope(result: CornerCasesResult) -> str:
    seen = count(result.looked, "input")
    if _so_far(result):
        seen = f"{result.looked:,} of {count(result.chosen, 'input')} so far"
    return f"{', '.join(result.models)} on {seen}."


def _because(result: CornerCasesResult, params: CornerCasesParams) -> list[str]:
    told = []
    if len(result.numbers):
        told.append("Models that disagree cannot all be right.")
    elif result.looked:
        told.append("Models that agree may still be wrong together.")
    wrong = [_of_model(result, place) for place in range(len(result.models))]
    told += [one.sentence for one in wrong if one.status is Status.FAILS]
    for known in result.populations:
        told.append(f"{told_apart(known)} at radius {number(params.radius)}.")
        told.append(
            f"If the sets were alike, they would differ this much with {chance(known.ks_p)}"
            " (Kolmogorov–Smirnov)."
        )
    return [*told, f"{count(result.model_calls, 'model call')}."]


def _of_model(result: CornerCasesResult, place: int) -> Verdict:
    """How often one model is wrong where the models disagree; unknown without labels."""
    known = result.truth >= 0
    wrong = int((result.classes[place] != result.truth)[known].sum())
    name, total = result.models[place], int(known.sum())
    if not total:
        return Verdict(Status.UNKNOWN, f"{name}: no input they disagree on has a label.")
    share = wrong / total
    quantity = Quantity("Wrong where the models disagree", share, better="low", text=percent(share))
    seen = f"{wrong:,} of the {total:,} labelled inputs the models disagree on"
    if wrong:
        status = Status.FAILS
    else:
        status = Status.UNKNOWN
    return Verdict(status, f"{name} is wrong on {seen}.", quantity)


def findings(result: CornerCasesResult, params: CornerCasesParams) -> list[Finding]:
    """The corner cases on which every model is surest of its own answer."""
    return [_finding(result, place, x) for place, x in enumerate(result.notable_inputs)]


def _finding(result: CornerCasesResult, place: int, x: np.ndarray) -> Finding:
    pairs = list(zip(result.models, result.classes[:, place].tolist(), strict=True))
    answers = {model: result.labels[c] for model, c in pairs}
    truth = int(result.truth[place])
    detail = {
        "answers": answers,
        "confidence": dict(
            zip(result.models, result.confidence[:, place].astype(float).tolist(), strict=True)
        ),
        "class": result.labels[truth] if truth >= 0 else None,
        "place": int(result.numbers[place]),
        "input_name": result.keys[place],
    }
    title = f"{result.keys[place]}: {' or '.join(dict.fromkeys(answers.values()))}?"
    # Where even the least sure model is sure, somebody is badly wrong.
    severity = float(result.confidence[:, place].min())
    return Finding("corner case", title, severity, detail, enlarged(x, result.kind), x)


def offers(result: CornerCasesResult, params: CornerCasesParams) -> list[Offer]:
    """All corner cases."""
    if not len(result.numbers):
        return []
    return [Offer("The corner cases", result.keys, places=tuple(map(int, result.numbers)))]
