"""A story as PDF, as MP4 or as one HTML file."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_pdf import PdfPages
from PIL import Image

from robgui.core.errors import RobguiError
from robgui.report.drawing import pixels
from robgui.report.drawing.figure import styled
from robgui.report.page import status_class, style
from robgui.report.story.painting import HEIGHT, PICTURE, WIDTH, SlideArea, exhibit, fitted, paint
from robgui.report.story.slides import Slide
from robgui.version import __version__

ENDINGS = (".pdf", ".mp4", ".html")
#: A film of the slides: its size, its frames a second, and the seconds of a slide.
_FRAME, _RATE, _SECONDS = (1280, 720), 15, 4.0
#: Seconds of these in which the change is uncovered, and seconds before in which nothing moves.
_UNCOVER, _STILL = 1.6, 0.8
_STYLE = (
    "main{max-width:none;padding:0}section.slide{min-height:100vh;display:flex;gap:3rem;"
    "align-items:center;padding:3rem;box-sizing:border-box;scroll-snap-align:start}"
    "html{scroll-snap-type:y proximity}section.slide img{max-width:55vw;max-height:85vh;"
    "image-rendering:pixelated;border-radius:6px}section.slide h2{font-size:2.4rem;margin:.3em 0}"
    "section.slide .number{font-size:5rem;font-weight:700;margin:0}"
    "section.slide p{font-size:1.3rem}"
    ".two{position:relative;display:inline-block}.two img{display:block}"
    ".two .side{position:absolute;bottom:.5rem;padding:.1rem .6rem;border-radius:1rem;"
    "background:var(--paper)}.two div .side{left:.5rem}.two div+div .side{left:auto;right:.5rem}"
    ".two div{position:relative}"
    ".two div+div{position:absolute;inset:0;animation:uncover 5s ease-in-out infinite alternate}"
    "@keyframes uncover{0%,20%{clip-path:inset(0 0 0 100%)}80%,100%{clip-path:inset(0)}}"
    "@media (prefers-reduced-motion:reduce){.two div+div{animation:none}}"
    "@media (max-width:800px){section.slide{flex-direction:column}"
    "section.slide img{max-width:90vw}}"
)


def write_story(slides: Sequence[Slide], path: str | Path, *, title: str) -> Path:
    """Writes the slides as PDF, MP4 or HTML, by the ending of ``path``; returns its path."""
    target = Path(path)
    writers = {".pdf": _pdf, ".mp4": _mp4, ".html": _html}
    writer = writers.get(target.suffix.lower())
    if writer is None:
        advice = f"is written as {', '.join(ENDINGS)}; choose one of these endings"
        raise RobguiError(f"{target.name}: a story {advice}.")
    if not slides:
        raise RobguiError("There is nothing to tell yet; run an analysis first.")
    try:
        writer(slides, target, title)
    except OSError as error:
        advice = "choose a folder you may write to"
        raise RobguiError(f"{target} cannot be written ({error.strerror}); {advice}.") from error
    return target


def _pdf(slides: Sequence[Slide], path: Path, title: str) -> None:
    about = {"Title": title, "Creator": f"robgui {__version__}", "Producer": "robgui"}
    with PdfPages(path, metadata=about) as pages:
        for place, slide in enumerate(slides):
            plate = paint(slide, place, len(slides))
            picture = exhibit(slide, 0.0 if slide.pair is None else 0.5)
            with styled(plate.look):
                if picture is not None:
                    axes = plate.add_axes(_rect(fitted(picture, SlideArea(*PICTURE))))
                    axes.set_axis_off()
                    # Its own pixels go into the file; resampled to the dots of the page they would
                    # blur.
                    axes.imshow(picture, interpolation="none", aspect="auto")
                pages.savefig(plate, facecolor=plate.look.ground, edgecolor="none")


def _rect(spot: SlideArea) -> tuple[float, float, float, float]:
    """An area in shares of the slide, from its lower left corner."""
    bottom = HEIGHT - spot.y - spot.height
    return spot.x / WIDTH, bottom / HEIGHT, spot.width / WIDTH, spot.height / HEIGHT


def frames_of(slides: Sequence[Slide], *, dark: bool = False) -> Iterator[np.ndarray]:
    """The film frame by frame, uint8 ``(h, w, 3)``: a change is uncovered, a slide stays."""
    for place, slide in enumerate(slides):
        grounds: dict[float, np.ndarray] = {}
        shown: dict[float, np.ndarray] = {}
        for moved in _moves(slide):
            # The words differ only where one side alone is seen.
            named = moved if moved in (0.0, 1.0) else 0.5
            if named not in grounds:
                whole = pixels(paint(slide, place, len(slides), named, dark=dark), _FRAME[0])
                grounds[named] = np.ascontiguousarray(whole[: _FRAME[1], :, :3])
            if moved not in shown:
                picture = exhibit(slide, moved, dark=dark)
                shown[moved] = _with_picture(grounds[named], picture)
            yield shown[moved]


def _moves(slide: Slide) -> Iterator[float]:
    """How far the change of a slide is covered in each of its frames."""
    total = round(_SECONDS * _RATE)
    if slide.pair is None:
        yield from [0.0] * total
        return
    still, moving = round(_STILL * _RATE), round(_UNCOVER * _RATE)
    for frame in range(total):
        share = min(1.0, max(0.0, (frame - still) / moving))
        # Smoothstep, begins and ends gently. Rounded, so frames that look the same are painted
        # once.
        yield round(1.0 - share * share * (3 - 2 * share), 3)


def _with_picture(ground: np.ndarray, picture: np.ndarray | None) -> np.ndarray:
    if picture is None:
        return ground
    spot, scale = fitted(picture, SlideArea(*PICTURE)), _FRAME[0] / WIDTH
    size = (max(1, round(spot.width * scale)), max(1, round(spot.height * scale)))
    # Enlarged with BOX, a pixel stays a square; the other filters would blend it with the next.
    image = Image.fromarray(picture).resize(size, Image.Resampling.BOX)
    left, top = round(spot.x * scale), round(spot.y * scale)
    frame = ground.copy()
    frame[top : top + size[1], left : left + size[0]] = np.asarray(image)
    return frame


def _mp4(slides: Sequence[Slide], path: Path, title: str) -> None:
    import cv2

    # What OpenCV's wheels can write everywhere; most bring no encoder for H.264.
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"mp4v"), _RATE, _FRAME)
    if not writer.isOpened():
        raise RobguiError(f"{path} cannot be written as MP4 here; choose another folder, or PDF.")
    for frame in frames_of(slides):
        writer.write(cv2.cvtColor(frame, cv2.COLOR_RGB2BGR))
    writer.release()


def _html(slides: Sequence[Slide], path: Path, title: str) -> None:
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{escape(title)}</title>\n<style>{style()}{_STYLE}</style>\n</head>\n<body><main>\n"
    )
    body = "".join(_section(slide) for slide in slides)
    path.write_text(f"{head}{body}</main></body></html>\n", encoding="utf-8")


def _section(slide: Slide) -> str:
    """One slide: real words, the change uncovered by itself."""
    status = number = ""
    if slide.status is not None:
        words = escape(f"{slide.status.sign} {slide.status.words}")
        kind = status_class(slide.status)
        status = f'<strong class="status {kind}">{words}</strong>'
    if slide.number:
        number = f'<p class="number">{escape(slide.number)}</p>'
    text = "".join(f"<p>{escape(part)}</p>" for part in slide.text.splitlines())
    quiet = f'<p class="quiet">{escape(slide.subject)}</p>'
    words = f"<div>{status}{number}<h2>{escape(slide.title)}</h2>{text}{quiet}</div>"
    return f'<section class="slide">{_pictures(slide)}{words}</section>\n'


def _pictures(slide: Slide) -> str:
    alt = escape(slide.title)
    if slide.pair is None:
        picture = exhibit(slide)
        if picture is None:
            return ""
        return f'<img alt="{alt}" src="{_address(picture)}">'
    before, after = (exhibit(slide, moved) for moved in (1.0, 0.0))
    assert before is not None and after is not None
    sides = ((before, slide.pair.words_before), (after, slide.pair.words_after))
    first, second = (f'<img alt="{escape(said)}" src="{_address(side)}">' for side, said in sides)
    # Over the picture, so that the name is covered and uncovered with its side.
    names = [f'<span class="side">{name}</span>' for name in ("before", "after")]
    return f'<div class="two"><div>{first}{names[0]}</div><div>{second}{names[1]}</div></div>'


def _address(picture: np.ndarray) -> str:
    buffer = io.BytesIO()
    image = Image.fromarray(picture)
    image.thumbnail((1000, 1000), Image.Resampling.BOX)
    image.quantize(200, dither=Image.Dither.NONE).save(buffer, "png", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
