"""What an adversarial twin, made by hand after a sweep, says about its input."""

from __future__ import annotations

from robgui.analyses.zonnscan.params import ZonnscanParams
from robgui.analyses.zonnscan.result import Twins, ZonnscanResult
from robgui.analyses.zonnscan.words.pictures import enlarged, side_by_side
from robgui.analyses.zonnscan.words.sweep import held
from robgui.core.finding import Finding
from robgui.core.text.words import number

KIND = "adversarial twin"


def twin_finding(
    result: ZonnscanResult, params: ZonnscanParams, twin: Twins, eps: float
) -> Finding | None:
    """The failure that a twin of the swept input shows.

    None if it keeps the class, or was moved beyond the radius that the sweep asks about.
    """
    before, after = result.predicted, int(twin.seen[-1])
    limit = held(result, params)
    # The twin moves every value by eps, which is a radius in this norm only.
    if params.zone != "linf" or after == before or eps > params.risk_factor * limit:
        return None
    own, other = result.labels[before], result.labels[after]
    x = twin.inputs[-1]
    detail = {
        "class": own,
        "other_class": other,
        "radius": eps,
        "found_by": "the adversarial twin",
        "apart": True,
        "fails": eps <= limit,
        "input_name": result.input_name,
    }
    turns = f"turns “{own}” into “{other}”"
    title = f"{result.input_name}: its adversarial twin at {number(eps)} {turns}"
    severity = max(0.0, 1 - eps / limit)
    picture = side_by_side([enlarged(one, result.kind) for one in (result.input, x)])
    return Finding(KIND, title, severity, detail, picture, x)
