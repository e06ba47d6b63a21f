"""Where the record stands in PNG, SVG, PDF and HTML files, and how it is found there.

The files may come from anyone: they are searched as bytes, within limits, and no part that could
run, load or grow is parsed.
"""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import IO

from robgui.core.experiment.record import LARGEST, Experiment, from_text
from robgui.core.regular import open_regular, read_regular

#: The keyword of the text chunk of a PNG, the id in an SVG, the class in HTML.
KEYWORD = "robgui-experiment"
#: The key in the information of a PDF; long records continue under numbered keys.
PDF_KEY = "RobguiExperiment"
#: Piece length for PDF strings: some readers reject longer ones.
_PDF_PART = 30_000
#: What a report says about itself at its beginning.
GENERATOR = "robgui report"
_PNG = b"\x89PNG\r\n\x1a\n"
#: Parts of a PNG, bytes of an SVG from its beginning and of a PDF from its end, bytes and runs of a
#: page: our own files lie far below, and a foreign one may have any size.
_MOST_CHUNKS = 200
_SVG_LOOK, _PDF_LOOK, _LARGEST_PAGE = 8_000_000, 32_000_000, 500_000_000
_MOST_RUNS = 10_000
_IN_SVG = re.compile(rb'<metadata id="robgui-experiment">([^<]*)</metadata>')
_IN_HTML = re.compile(rb'<data hidden class="robgui-experiment" value="([^"]*)">')
_IN_PDF = re.compile(rb"/RobguiExperiment(\d+) \(((?:[^\\()]|\\.)*+)\)", re.DOTALL)


def carries(path: Path) -> bool:
    """Whether a figure or report carries the run behind it.

    Only the beginning is read, and of a PDF the end.
    """
    try:
        with open_regular(path) as file:
            head = file.read(4096)
            if head.startswith(_PNG):
                return _png_text(file) is not None
            if head.startswith(b"%PDF"):
                return bool(_IN_PDF.search(_tail(file)))
            if _is_svg(head):
                return f'<metadata id="{KEYWORD}">'.encode() in head + file.read(_SVG_LOOK)
            return _is_page(head) and f'content="{GENERATOR}"'.encode() in head
    except OSError:
        return False


def experiments_in(path: Path) -> list[Experiment]:
    """The runs behind a figure or report, in order; empty if it carries none.

    Raises:
        OSError: The file cannot be read.
        ValueError: A record in it is damaged.
    """
    return [from_text(text) for text in _texts(path)]


def svg_element(text: str) -> str:
    """The element to embed in an SVG file."""
    return f'<metadata id="{KEYWORD}">{html.escape(text)}</metadata>'


def html_element(text: str) -> str:
    """The element to embed in an article of a report."""
    return f'<data hidden class="{KEYWORD}" value="{html.escape(text)}"></data>'


def pdf_entries(texts: list[str]) -> dict[str, str]:
    """The entries to embed in the information of a PDF, in pieces that every reader takes."""
    whole = "\n".join(texts)
    pieces = [whole[start : start + _PDF_PART] for start in range(0, len(whole), _PDF_PART)]
    return {f"{PDF_KEY}{number}": piece for number, piece in enumerate(pieces)}


def _texts(path: Path) -> list[str]:
    with open_regular(path) as file:
        head = file.read(4096)
        if head.startswith(_PNG):
            text = _png_text(file)
            if text is None:
                return []
            return [text]
        if head.startswith(b"%PDF"):
            return _pdf_texts(_tail(file))
        if _is_svg(head):
            found = _IN_SVG.findall(head + file.read(_SVG_LOOK))
            return [_plain(one) for one in found[:1]]
    if not _is_page(head):
        return []
    page = read_regular(path, _LARGEST_PAGE)
    return [_plain(one[1]) for _, one in zip(range(_MOST_RUNS), _IN_HTML.finditer(page))]  # noqa: B905


def _plain(found: bytes) -> str:
    if len(found) > LARGEST:
        raise ValueError("the record is longer than any")
    return html.unescape(found.decode("utf-8", "replace"))


def _png_text(file: IO[bytes]) -> str | None:
    """The text chunk of a PNG that stands before its pixels."""
    file.seek(len(_PNG))
    for _ in range(_MOST_CHUNKS):
        length, kind = int.from_bytes(file.read(4), "big"), file.read(4)
        # Ours stands before the pixels; an empty kind is the end of a file cut short.
        if kind in (b"IDAT", b"IEND", b""):
            return None
        if kind == b"tEXt" and length <= LARGEST:
            keyword, _, text = file.read(length).partition(b"\0")
            file.seek(4, os.SEEK_CUR)
            if keyword == KEYWORD.encode():
                # The PNG standard says that tEXt is Latin-1.
                return text.decode("latin-1")
        else:
            # Over the data and the four bytes of checksum that end every chunk.
            file.seek(length + 4, os.SEEK_CUR)
    return None


def _tail(file: IO[bytes]) -> bytes:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _PDF_LOOK))
    return file.read(_PDF_LOOK)


def _pdf_texts(tail: bytes) -> list[str]:
    parts = {int(number[:6]): value for number, value in _IN_PDF.findall(tail)}
    whole = b"".join(parts[number] for number in sorted(parts))
    text = re.sub(rb"\\(.)", _unescaped, whole, flags=re.DOTALL).decode("latin-1")
    if text:
        return text.split("\n")[:_MOST_RUNS]
    return []


def _unescaped(found: re.Match[bytes]) -> bytes:
    # In a PDF string the backslash makes n and r control characters;
    # before a parenthesis or another backslash it only protects it.
    return {b"n": b"\n", b"r": b"\r"}.get(found[1], found[1])


def _is_svg(head: bytes) -> bool:
    # EF BB BF is the byte order mark that some editors write first.
    return b"<svg" in head and head.lstrip(b"\xef\xbb\xbf \r\n\t")[:5] in (b"<?xml", b"<svg ")


def _is_page(head: bytes) -> bool:
    return head.lstrip(b"\xef\xbb\xbf \r\n\t")[:9].lower() == b"<!doctype"
