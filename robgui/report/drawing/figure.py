"""Views as a figure: laid out once, then painted in any size; thread-safe, without pyplot or Qt."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import PdfPages

from robgui.core.experiment import Experiment
from robgui.core.experiment.carrying import KEYWORD, pdf_entries, svg_element
from robgui.core.view import View
from robgui.report.drawing.block import ViewBlock, halves, still
from robgui.report.drawing.look import FOOT, SUBJECT, TITLE, Look
from robgui.report.drawing.plate import Plate
from robgui.report.lettering import line_height, wrap

#: Inches: the usual width of a figure, its margin, and between two blocks.
WIDTH, MARGIN, GAP = 7.0, 0.22, 0.26
#: Narrower than this (inches), no two views stand side by side.
_SIDE_BY_SIDE = 6.0
KINDS = ("png", "svg", "pdf")
#: matplotlib keeps its style in one global table, hence the lock.
_LOCK = threading.RLock()
#: The looks that it has now, the outer one first.
_LOOKS: list[Look] = []


def draw(
    views: Sequence[View],
    *,
    title: str,
    subject: str = "",
    provenance: str = "",
    dark: bool = False,
    width: float = WIDTH,
) -> Plate:
    """All views of a result in one figure: the first one large, the others below.

    Args:
        views: What to draw; of a film its last frame.
        title: What it is, large above it.
        subject: Of what: model and input, below the title.
        provenance: Where it comes from, small at the bottom.
        dark: On a dark ground.
        width: Of the figure, in inches.
    """
    with styled(Look(dark)) as look:
        rows = _rows([still(view) for view in views], width - 2 * MARGIN, look)
        return _compose(rows, (title, subject, provenance), width, look)


def draw_view(
    view: View,
    *,
    title: str = "",
    subject: str = "",
    provenance: str = "",
    dark: bool = False,
    width: float = WIDTH,
    frame: int = -1,
    large: bool = True,
) -> Plate:
    """One view in a figure of its own; see ``draw``.

    Args:
        view: What to draw.
        title: What it is, large above it.
        subject: Of what: model and input, below the title.
        provenance: Where it comes from, small at the bottom.
        dark: On a dark ground.
        width: Of the figure, in inches.
        frame: Which one of a film.
        large: False for a detail: lower, with fewer rows and pictures.
    """
    with styled(Look(dark)) as look:
        block = ViewBlock(still(view, frame), width - 2 * MARGIN, look, large)
        return _compose([[block]], (title, subject, provenance), width, look)


def pixels(figure: Plate, width: int) -> np.ndarray:
    """The figure painted ``width`` pixels wide, as uint8 ``(h, w, 4)``."""
    with styled(figure.look):
        figure.set_dpi(width / figure.size[0])
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        # Copied: the buffer belongs to the canvas, which goes now.
        return np.asarray(canvas.buffer_rgba()).copy()


def save(
    figure: Plate, kind: str = "svg", dpi: int = 160, experiment: Experiment | None = None
) -> bytes:
    """The figure as the bytes of an SVG, PNG or PDF file whose records say title and provenance.

    Args:
        figure: What to write.
        kind: ``svg``, ``png`` or ``pdf``.
        dpi: Pixels per inch of a PNG.
        experiment: The run behind it, which the file carries from then on.
    """
    buffer = io.BytesIO()
    if experiment is None:
        text = ""
    else:
        text = experiment.to_text()
    look: dict[str, Any] = {"dpi": dpi, "facecolor": figure.look.ground}
    with styled(figure.look):
        records = _records(figure, kind)
        if kind == "pdf":
            with PdfPages(buffer, metadata=records) as pages:
                # As metadata matplotlib takes only the entries that it knows.
                pages.infodict().update(pdf_entries([text] if text else []))
                pages.savefig(figure, **look)
            return buffer.getvalue()
        if kind == "png" and text:
            records[KEYWORD] = text
        figure.savefig(buffer, format=kind, metadata=records, **look)
    content = buffer.getvalue()
    if kind == "svg" and text:
        return _with_element(content, text)
    return content


def _with_element(svg: bytes, text: str) -> bytes:
    """An SVG file with the run behind it, right after its first tag."""
    # The first > after it ends the tag, however many attributes it has.
    place = svg.index(b">", svg.index(b"<svg")) + 1
    return svg[:place] + b"\n " + svg_element(text).encode() + svg[place:]


@contextmanager
def styled(look: Look) -> Iterator[Look]:
    """Holds matplotlib's global table and gives it this look.

    Within a block of the same look there is nothing to do, and the table takes as long as a tenth
    of a drawing.
    """
    with _LOCK:
        # Calls within calls of one look need not set matplotlib's whole table again.
        if _LOOKS and _LOOKS[-1] == look:
            yield look
            return
        with mpl.rc_context(look.rc()):
            _LOOKS.append(look)
            try:
                yield look
            finally:
                _LOOKS.pop()


def _records(figure: Plate, kind: str) -> dict[str, Any]:
    from robgui.version import __version__

    title, subject, provenance = figure.words
    program = f"robgui {__version__}"
    if kind == "pdf":
        # No date: the same picture gives the same file, byte for byte.
        more = {"Creator": program, "CreationDate": None}
        return {"Title": title, "Subject": subject, "Keywords": provenance, **more}
    if kind == "svg":
        more = {"Creator": program, "Date": None}
    else:
        more = {"Software": program}
    return {"Title": title, "Description": subject, "Source": provenance, **more}


def _rows(views: Sequence[Any], width: float, look: Look) -> list[list[ViewBlock]]:
    """The first view alone, the others two in a row where both read well at half the width."""
    rows = [[ViewBlock(view, width, look)] for view in views[:1]]
    waiting = list(views[1:])
    while waiting:
        pair = waiting[:2]
        if width >= _SIDE_BY_SIDE and len(pair) == 2 and all(map(halves, pair)):
            rows.append([ViewBlock(view, (width - GAP) / 2, look, large=False) for view in pair])
            waiting = waiting[2:]
        else:
            rows.append([ViewBlock(waiting.pop(0), width, look, large=False)])
    return rows


def _compose(
    rows: list[list[ViewBlock]],
    words: tuple[str, str, str],
    width: float,
    look: Look,
) -> Plate:
    """A plate with all blocks on it, exactly as high as they need."""
    inner = width - 2 * MARGIN
    title, subject = wrap(words[0], TITLE, inner, bold=True), wrap(words[1], SUBJECT, inner)
    foot = wrap(words[2], FOOT, inner)
    head = len(title) * line_height(TITLE) + len(subject) * line_height(SUBJECT)
    head += 0.14 if head else 0.0
    body = sum(max(block.height for block in row) for row in rows) + GAP * max(0, len(rows) - 1)
    height = 2 * MARGIN + head + body + len(foot) * line_height(FOOT) + (0.1 if foot else 0.0)
    plate = Plate(width, height, look)
    plate.words = words
    top = MARGIN
    for line in title:
        plate.put(line, MARGIN, top, TITLE, bold=True)
        top += line_height(TITLE)
    for line in subject:
        plate.put(line, MARGIN, top, SUBJECT, colour=look.faded)
        top += line_height(SUBJECT)
    _stack(plate, rows, MARGIN + head)
    top = height - MARGIN - len(foot) * line_height(FOOT) + 0.06
    for line in foot:
        plate.put(line, MARGIN, top, FOOT, colour=look.faded)
        top += line_height(FOOT)
    return plate


def _stack(plate: Plate, rows: list[list[ViewBlock]], top: float) -> None:
    for row in rows:
        left = MARGIN
        for block in row:
            block.paint(plate, left, top)
            left += block.width + GAP
        top += max(block.height for block in row) + GAP
