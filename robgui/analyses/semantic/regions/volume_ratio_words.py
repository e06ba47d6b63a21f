"""What the semantic robustness volume ratio says in words."""

from __future__ import annotations

import numpy as np

from robgui.analyses.semantic.result import SrvrResult
from robgui.analyses.semantic.words import axes_words
from robgui.core.finding import Finding
from robgui.core.headline import Headline
from robgui.core.text.words import count, number, percent


def srvr_verdict(result: SrvrResult) -> str:
    """The most and the least robust network, how the regions fared, and what it cost."""
    return f"{_ranking(result)} {_fates(result)} {result.model_calls:,} model calls."


def srvr_headline(result: SrvrResult) -> Headline:
    """The ratio of the first network."""
    share = float(result.srvr[0])
    title = "Share of the range filled by regions (SRVR)"
    if not np.isfinite(share):
        return Headline(title, share, "not known yet", "high", "unknown")
    return Headline(title, share, percent(share), "high", "good" if share > 0 else "bad")


def _ranking(result: SrvrResult) -> str:
    known = np.flatnonzero(np.isfinite(result.srvr))
    subject = f"{axes_words(result.axes)} of {len(result.shapes)} shapes" if len(result.shapes) > 1 else f"{axes_words(result.axes)}"
    if not len(known):
        return f"No region has been grown yet over {subject}."
    word = "keeps" if result.mode == "robust" else "loses"
    best, worst = known[np.argmax(result.srvr[known])], known[np.argmin(result.srvr[known])]
    first = f"{result.networks[best]} {word} the class in {_share(result, int(best))} of the range of {subject}, around an average start"
    if best == worst:
        return f"{first}."
    return f"{first}; {result.networks[worst]}, the last of {len(known)}, in {_share(result, int(worst))}."


def _share(result: SrvrResult, network: int) -> str:
    error = float(result.srvr_error[network])
    margin = f" (± {number(100 * error)} %)" if np.isfinite(error) else ""
    return f"{percent(float(result.srvr[network]))}{margin}"


def _fates(result: SrvrResult) -> str:
    total = int(result.regions.sum())
    never, bad = int(result.never_grew.sum()), int(result.bad_starts.sum())
    because = f" ({bad} because the start does not fit)" if bad else ""
    return (
        f"{count(total, 'region')}: {never} never grew{because}, {int(result.hits.sum())} reach the end of the range, "
        f"{int(result.unconverged.sum())} did not come to rest."
    )


def srvr_findings(result: SrvrResult) -> list[Finding]:
    """Shapes that a network does not recognise at any start."""
    findings = []
    for network, shape in np.argwhere(np.isfinite(result.start_score).all(2)):
        if result.mode == "robust" and not result.grew[network, shape].any():
            name = result.labels[result.target[shape]]
            title = f"{result.shapes[shape]}: {result.networks[network]} keeps “{name}” around none of {len(result.starts)} starts"
            detail = {
                "class": name,
                "network": result.networks[network],
                "shape": result.shapes[shape],
                "best_start_score": float(result.start_score[network, shape].max()),
            }
            findings.append(Finding("not recognised", title, 1 - detail["best_start_score"] / 2, detail))
    return findings
