"""The Corner cases panel: inputs on which the models disagree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations, takewhile
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QWidget

from robgui.core.text.words import percent
from robgui.gui.panels.panel import Panel
from robgui.gui.widgets.distributions import Distributions
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.plots import column
from robgui.gui.widgets.thumbs import MOST, Thumb, Thumbs, Views

if TYPE_CHECKING:
    from robgui.analyses.zonnscan import CornerCasesResult

#: Models whose answers stand beside a picture; the tool tip has all.
_LINES = 4


class CornerCasesPanel(Panel):
    """Corner cases as pictures with every model's answer, and the index around them (Figure 4 of the paper)."""

    analysis = "zonnscan_corner_cases"
    title = "Corner cases"
    icon_name = "zonnscan"
    invitation = (
        "On which inputs do your models disagree? Open at least two models for the same data and press Run: "
        "all of them are asked about the inputs that the gallery shows."
    )
    explanation = (
        "A corner case is an input to which two or more models give different classes, so at least one of them is wrong. The "
        "pictures stand in order: first those where even the least sure model is sure of its answer. Index shows how unsure the model "
        "in use is in a small zone around corner cases (hatched, vermilion) and around as many inputs on which all models agree "
        "(plain, blue). Click an input to choose it in the gallery."
    )

    def build(self) -> QWidget:
        """The pictures, and the two distributions."""
        self.thumbs = Thumbs("Corner cases", lines=_LINES, width=16, grid=True)
        self.distributions = Distributions()
        self.views = Views({"Corner cases": self.thumbs, "Index": self.distributions})
        self.figures = Label(wordWrap=True)
        self.thumbs.pointed.connect(self.point_at)
        return column(self.views, self.figures)

    def restyle(self) -> None:
        """The plots follow the theme."""
        self.distributions.restyle()

    def draw(self, result: CornerCasesResult) -> None:
        """Gives every item its new numbers."""
        if len(result.thumbnails):
            thumbs = [Thumb(int(number), _lines(result, i), _sentence(result, i)) for i, number in enumerate(result.numbers[:MOST])]
            self.thumbs.show_inputs(thumbs, list(result.thumbnails[:MOST]), self.request)
        else:
            self.thumbs.show_inputs((), ())
        nothing = np.zeros(0)
        first, second, names, radius = nothing, nothing, ("agreeing", "corner-case"), 0.0
        for known in result.populations:
            first, second, radius = known.index[~known.second], known.index[known.second], known.radius
        self.distributions.show_values(first, second, names, radius)
        self.figures.setText(_pairs(result))

    def table(self) -> dict[str, np.ndarray]:
        """One row per corner case."""
        result: CornerCasesResult | None = self.result
        if result is None:
            return {}
        columns = {"number": result.numbers, "key": np.asarray(result.keys), "label": result.truth}
        for m, model in enumerate(result.models):
            columns[f"class {m + 1} {model}"] = result.classes[m]
            columns[f"confidence {m + 1} {model}"] = result.confidence[m]
        return columns

    def pictures(self) -> dict[str, QWidget]:
        """The pictures and the distributions."""
        return {"corner cases": self.thumbs, "index": self.distributions}


def _lines(result: CornerCasesResult, place: int) -> tuple[str, ...]:
    truth = int(result.truth[place])
    title = result.keys[place].removeprefix("image ") + (f", {result.labels[truth]}" if truth >= 0 else "")
    answers = [
        f"{model}: {result.labels[c]} {p * 100:.0f} %"
        for model, c, p in zip(short_names(result.models), result.classes[:, place], result.confidence[:, place], strict=True)
    ]
    return (title, *answers)[:_LINES]


def _sentence(result: CornerCasesResult, place: int) -> str:
    truth = int(result.truth[place])
    label = f" is {result.labels[truth]}" if truth >= 0 else ""
    answers = "; ".join(
        f"{model} says {result.labels[c]} with {percent(float(p))}"
        for model, c, p in zip(result.models, result.classes[:, place], result.confidence[:, place], strict=True)
    )
    return f"{result.keys[place]}{label}: {answers}"


def _pairs(result: CornerCasesResult) -> str:
    """On how many inputs each pair of models disagrees, and how many pictures there are."""
    names = short_names(result.models)
    pairs = ", ".join(f"{names[a]} and {names[b]} on {int(result.pairs[a, b]):,}" for a, b in combinations(range(len(names)), 2))
    shown = f" The first {MOST:,} are shown." if len(result.numbers) > MOST else ""
    return f"Disagree: {pairs}.{shown}" if pairs else ""


def short_names(models: Sequence[str]) -> list[str]:
    """File names without their endings and without what all of them begin with."""
    parts = [re.split("(?<=[_-])", model.rpartition(".")[0] or model) for model in models]
    same = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, zip(*(part[:-1] for part in parts), strict=False)))
    return ["".join(part[same:]) for part in parts]
