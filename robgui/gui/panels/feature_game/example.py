"""The example on show in words and as PNG files, and the evidence beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robgui.core.errors import RobguiError
from robgui.core.text.words import number, percent

if TYPE_CHECKING:
    from robgui.analyses.feature_game import FeatureGameResult, Severity

#: Why fewer changes may exist even though an example was found.
FEWEST = "A less severe example may exist: the search has seen a few of very many images. "


@dataclass(frozen=True)
class Shown:
    """The example on show: the best of the result, or that of one search.

    Attributes:
        example: ``(c, h, w)`` in [0, 1]; the image itself without any.
        changed: ``(P, 2)`` x and y of its changed pixels.
        severity: Of the example.
        found_class: Its class; -1 without any.
        confidence: ``(C,)`` outputs for it.
    """

    example: np.ndarray
    changed: np.ndarray
    severity: Severity
    found_class: int
    confidence: np.ndarray


def shown(result: FeatureGameResult, search: int | None = None) -> Shown:
    """The best example of a result, or that of search number ``search``."""
    from robgui.analyses.feature_game import example_of

    if search is None or not 0 <= search < len(result.outcomes):
        return Shown(result.best, result.changed, result.severity, result.found_class, result.found_confidence)
    outcome = result.outcomes[search]
    return Shown(example_of(result.input, outcome), outcome.changed, outcome.severity, outcome.found_class, outcome.confidence)


def ended(result: FeatureGameResult) -> bool:
    """Whether every search has come to its end."""
    return len(result.outcomes) == result.searches and all(outcome.ended for outcome in result.outcomes)


def caption(result: FeatureGameResult, example: Shown) -> str:
    """What stands above the picture of the example."""
    if example.found_class < 0:
        aim = f" of “{result.labels[result.target]}”" if result.target >= 0 else ""
        return f"no example{aim} found" if ended(result) else f"no example{aim} yet"
    pixels = len(example.changed)
    return f"“{result.labels[example.found_class]}”, {pixels:,} {'pixel' if pixels == 1 else 'pixels'}"


def severities(severity: Severity) -> str:
    """All norms in one line; nothing without an example."""
    if not np.isfinite(severity.l0_pixels):
        return ""
    pixels, numbers = int(severity.l0_pixels), int(severity.l0_dims)
    of = f" ({numbers:,} colour values)" if numbers != pixels else ""
    distances = f"L1 {number(severity.l1)}, L2 {number(severity.l2)}, L∞ {number(severity.linf)}"
    return f"{pixels:,} {'pixel' if pixels == 1 else 'pixels'}{of}, {distances}."


def pixel_words(result: FeatureGameResult, example: Shown, pixel: tuple[int, int] | None) -> str:
    """What is known of the pixel that the user points at; nothing outside the image."""
    if pixel is None or not (0 <= pixel[0] < result.input.shape[2] and 0 <= pixel[1] < result.input.shape[1]):
        return ""
    x, y = pixel
    before, after = (_value(image[:, y, x]) for image in (result.input, example.example))
    words = f"Pixel {x}, {y}: {before}" + (f" became {after}" if before != after else "")
    points = result.keypoints
    far = np.hypot(points[:, 0] - x, points[:, 1] - y)
    inside = np.flatnonzero(far <= np.maximum(points[:, 2] / 2, 1.0))
    if len(inside):
        nearest = int(inside[far[inside].argmin()])
        weight = percent(float(result.weights[nearest]))
        words += f"; in keypoint {nearest + 1}, {number(float(points[nearest, 2]))} px wide, weight {weight}"
    return words + "."


def _value(pixel: np.ndarray) -> str:
    values = [str(int(value)) for value in np.round(pixel * 255)]
    return values[0] if len(values) == 1 else f"({', '.join(values)})"


def evidence_words(result: FeatureGameResult) -> list[str]:
    """What the search has seen, and why it is no guarantee; one paragraph each."""
    from robgui.analyses.feature_game import NO_GUARANTEE

    seen = result.evidence
    first = f"{result.model_calls:,} images were shown to the model"
    first += f"; {seen.singles:,} of {seen.moves:,} one-pixel moves were tried." if seen.moves else "."
    paragraphs = [first]
    if seen.pairs:
        paragraphs.append(
            f"Steepness (estimated Lipschitz constant): over {seen.pairs:,} changed images, the confidence in "
            f"“{result.labels[result.original]}” moved by at most {number(seen.lipschitz)} per unit of L1 distance."
        )
    if np.isfinite(seen.gap):
        paragraphs.append(
            f"Gap: the smallest fall of that confidence at which the class changed is {number(seen.gap)}. "
            f"The paper's Theorem 4 would ask for a grid of step τ = 2 · gap / steepness = {number(seen.tau)}."
        )
    else:
        paragraphs.append("Gap: unknown, because no image that was tried changed the class.")
    return [*paragraphs, NO_GUARANTEE if result.found_class < 0 else FEWEST + NO_GUARANTEE.split(": ", 1)[1].split(". ", 1)[1]]


def save_example(result: FeatureGameResult, example: Shown, path: Path) -> list[Path]:
    """Writes the example, and beside it the difference and the changed pixels, as PNG files at the image's own size."""
    from PIL import Image

    from robgui.analyses.feature_game import pictures

    made = pictures(replace(result, best=example.example, changed=example.changed))
    grey = result.input.shape[0] == 1
    files = {
        path: made["example"][:, :, 0] if grey else made["example"],
        path.with_name(f"{path.stem}-difference.png"): made["difference"],
        path.with_name(f"{path.stem}-changed.png"): made["changed"][:, :, 0],
    }
    try:
        for file, pixels in files.items():
            Image.fromarray(np.ascontiguousarray(pixels)).save(file, format="PNG")
    except OSError as error:
        raise RobguiError(f"{path} cannot be written ({error.strerror}); choose a folder you may write to.") from error
    return list(files)
