"""The Watermark panel: does the index tell two models apart on the same key inputs?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QWidget

from robgui.core.text.words import number, percent
from robgui.gui.panels.panel import Panel
from robgui.gui.widgets.distributions import Distributions
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.plots import column
from robgui.gui.widgets.thumbs import Thumb, Thumbs, Views

if TYPE_CHECKING:
    from robgui.analyses.zonnscan import WatermarkResult


class WatermarkPanel(Panel):
    """The index of a model and of its watermarked copy around the same key inputs (Section III-D of the paper)."""

    analysis = "zonnscan_watermark"
    title = "Watermark"
    icon_name = "zonnscan"
    invitation = (
        "Can the index tell a model from a copy whose boundary was moved? Press Run: a copy of the model learns a watermark, "
        "and the two are compared. The model itself is never changed. Or compare two models that are open."
    )
    explanation = (
        "A watermark is hidden in a model by teaching it a secret key: inputs moved close to the boundary, half of which fool the model. "
        "The copy learns to give all of them their true class, which moves its boundary a little. Bars show the index around the key "
        "inputs in repeated runs: plain and blue for the model, hatched and vermilion for the copy. If the two differ, an attacker who "
        "measures the index could find the watermark, and an owner can prove that it is there. The probability counts every run as a "
        "value of its own, as the paper does. Key inputs shows each of them with both answers; click one to choose its original in "
        "the gallery."
    )

    def build(self) -> QWidget:
        """The two distributions, and the key inputs."""
        self.distributions = Distributions("share of values")
        self.thumbs = Thumbs("Key inputs", lines=3, width=18, grid=True)
        self.views = Views({"Index": self.distributions, "Key inputs": self.thumbs})
        self.figures = Label(wordWrap=True)
        self.thumbs.pointed.connect(self.point_at)
        return column(self.views, self.figures)

    def restyle(self) -> None:
        """The plots follow the theme."""
        self.distributions.restyle()

    def draw(self, result: WatermarkResult) -> None:
        """Gives every item its new numbers."""
        names = ("model", "copy") if result.mode == "make" else ("first model", "second model")
        self.distributions.show_values(result.index[0].ravel(), result.index[1].ravel(), names, result.radius, "values")
        thumbs = [Thumb(int(place), _lines(result, i), _sentence(result, i)) for i, place in enumerate(result.numbers)]
        self.thumbs.show_inputs(thumbs, list(result.thumbnails), self.request)
        self.figures.setText(_figures(result))

    def table(self) -> dict[str, np.ndarray]:
        """One row per key input."""
        result: WatermarkResult | None = self.result
        if result is None:
            return {}
        columns = {"number": result.numbers, "key": np.asarray(result.keys), "class": result.classes, "adversarial": result.adversarial}
        for m in range(2):
            columns[f"answer {m + 1}"] = result.answers[m]
            columns[f"confidence {m + 1}"] = result.confidence[m]
            columns[f"mean index {m + 1}"] = _mean(result.index[m])
        return columns

    def pictures(self) -> dict[str, QWidget]:
        """The distributions and the key inputs."""
        return {"index": self.distributions, "key inputs": self.thumbs}


def _mean(index: np.ndarray) -> np.ndarray:
    """Mean over the runs done so far ``(n,)``; nan before the first."""
    runs = np.isfinite(index).all(1)
    return np.asarray(index[runs].mean(0)) if runs.any() else np.full(index.shape[1], np.nan)


def _answer(result: WatermarkResult, which: int, place: int) -> str:
    c = int(result.answers[which, place])
    return f"{result.labels[c]} {result.confidence[which, place] * 100:.0f} %" if c >= 0 else "…"


def _lines(result: WatermarkResult, place: int) -> tuple[str, str, str]:
    before, after = ("before", "after") if result.mode == "make" else ("first", "second")
    title = f"{result.keys[place]}, {result.labels[int(result.classes[place])]}"
    return title, f"{before}: {_answer(result, 0, place)}", f"{after}: {_answer(result, 1, place)}"


def _sentence(result: WatermarkResult, place: int) -> str:
    kind = "adversarial, made from" if result.adversarial[place] else "near the boundary, made from" if result.mode == "make" else ""
    answers = "; ".join(f"{model} says {_answer(result, m, place)}" for m, model in enumerate(result.models))
    return f"{kind} {result.keys[place]} ({result.labels[int(result.classes[place])]}): {answers}".strip()


def _figures(result: WatermarkResult) -> str:
    """What the watermark did, in words."""
    changed = int((result.answers[0] != result.answers[1]).sum()) if (result.answers[1] >= 0).all() else 0
    if result.mode == "compare":
        parts = [f"{changed} of {len(result.keys)} inputs get different answers"]
    else:
        parts = [f"{changed} of {len(result.keys)} key inputs change their answer"]
        parts.append(f"{result.back} of {int(result.adversarial.sum())} adversarial ones are in their class")
        if np.isfinite(result.kept):
            parts.append(f"{percent(result.kept)} of the inputs looked at keep theirs")
    if np.isfinite(result.ks_p):
        parts.append(f"by chance the two would look so different with probability {number(result.ks_p)}")
    return "; ".join(parts) + "."
