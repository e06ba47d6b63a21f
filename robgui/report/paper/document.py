"""Document: pages of text, rules and pictures as the bytes of a PDF file."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping

from robgui.report.lettering import POINTS
from robgui.report.paper.font import Font, stream
from robgui.report.paper.picture import PaperPicture

#: Numbers of the objects that every page names: catalogue, list of pages, information, fonts.
_CATALOGUE, _PAGES, _INFORMATION, _PLAIN, _BOLD = 1, 2, 3, 4, 9
#: Each font takes five objects, 4 to 8 and 9 to 13; what pages need is numbered after them.
_FREE = 14
#: How far below its upper edge a line of DejaVu Sans stands, in sizes of its letters.
_ASCENT = 0.76


class Document:
    """A PDF file in the making; everything is measured in inches from the upper left corner.

    Args:
        width: Of every page.
        height: Of every page.
    """

    def __init__(self, width: float, height: float) -> None:
        self._size = (width, height)
        self._objects: dict[int, bytes] = {}
        self._fonts = {False: Font(bold=False), True: Font(bold=True)}
        self._pages: list[int] = []
        self._known: dict[bytes, int] = {}
        self._drawn: list[str] = []
        self._shown: dict[str, int] = {}

    @property
    def pages(self) -> int:
        """How many are finished."""
        return len(self._pages)

    def text(self, line: str, x: float, y: float, size: float, colour: str, bold: bool) -> None:
        """One line, its upper left corner at this place."""
        left, base = self._place(x, y + _ASCENT * size / POINTS)
        name, codes = "B" if bold else "P", self._fonts[bold].codes(line)
        self._drawn.append(
            f"BT /{name} {size:g} Tf {_rgb(colour)} rg {left} {base} Td <{codes}> Tj ET"
        )

    def rule(self, x: float, y: float, width: float, colour: str, thick: float) -> None:
        """A line across the page."""
        (left, level), (right, _) = self._place(x, y), self._place(x + width, y)
        self._drawn.append(f"{_rgb(colour)} RG {thick:g} w {left} {level} m {right} {level} l S")

    def picture(
        self, picture: PaperPicture, x: float, y: float, width: float, height: float
    ) -> None:
        """A picture, its upper left corner at this place; the same one is kept once."""
        mark = hashlib.sha256(picture.data + picture.entries.encode()).digest()
        if mark not in self._known:
            size = f"/Width {picture.width} /Height {picture.height}"
            about = f"/Type /XObject /Subtype /Image {size} {picture.entries}"
            self._known[mark] = self._add(stream(about, picture.data))
        name = f"I{self._known[mark]}"
        self._shown[name] = self._known[mark]
        left, bottom = self._place(x, y + height)
        wide, high = width * POINTS, height * POINTS
        self._drawn.append(f"q {wide:.2f} 0 0 {high:.2f} {left} {bottom} cm /{name} Do Q")

    def end_page(self) -> None:
        """What was set so far is a page."""
        content = self._add(
            stream("/Filter /FlateDecode", zlib.compress("\n".join(self._drawn).encode()))
        )
        pictures = " ".join(f"/{name} {number} 0 R" for name, number in self._shown.items())
        width, height = (one * POINTS for one in self._size)
        page = (
            f"<< /Type /Page /Parent {_PAGES} 0 R /MediaBox [0 0 {width:.2f} {height:.2f}]"
            f" /Contents {content} 0 R /Resources << /Font << /P {_PLAIN} 0 R /B {_BOLD} 0 R >>"
            f" /XObject << {pictures} >> >> >>"
        )
        self._pages.append(self._add(page.encode()))
        self._drawn, self._shown = [], {}

    def to_bytes(self, information: Mapping[str, str]) -> bytes:
        """The file, with what it says of itself at its end."""
        kids = " ".join(f"{number} 0 R" for number in self._pages)
        self._objects[_CATALOGUE] = f"<< /Type /Catalog /Pages {_PAGES} 0 R >>".encode()
        self._objects[_PAGES] = (
            f"<< /Type /Pages /Count {len(self._pages)} /Kids [{kids}] >>".encode()
        )
        for bold, first in ((False, _PLAIN), (True, _BOLD)):
            made = self._fonts[bold].objects(first)
            self._objects.update(enumerate(made, first))
        entries = (f"/{name} ".encode() + _string(text) for name, text in information.items())
        told = b"\n".join(entries)
        last = {_INFORMATION: b"<< " + told + b" >>"}
        # Four bytes above 127 say that the file is not text (ISO 32000-1, 7.5.2).
        whole, places = bytearray(b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n"), {}
        for number, body in [*sorted(self._objects.items()), *last.items()]:
            places[number] = len(whole)
            whole += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
        start = len(whole)
        count = max(places) + 1
        # Every entry has 20 bytes, a line end of two included (7.5.4): readers count, they do not
        # parse.
        whole += f"xref\n0 {count}\n0000000000 65535 f \n".encode()
        for number in range(1, count):
            whole += f"{places[number]:010d} 00000 n \n".encode()
        root = f"/Size {count} /Root {_CATALOGUE} 0 R /Info {_INFORMATION} 0 R"
        whole += f"trailer\n<< {root} >>\nstartxref\n{start}\n%%EOF\n".encode()
        return bytes(whole)

    def _add(self, body: bytes) -> int:
        # The numbers before are given when the file is written.
        number = _FREE + len(self._objects)
        self._objects[number] = body
        return number

    def _place(self, x: float, y: float) -> tuple[str, str]:
        """A place as a PDF says it: points from the lower left corner."""
        return f"{x * POINTS:.2f}", f"{(self._size[1] - y) * POINTS:.2f}"


def _rgb(colour: str) -> str:
    """A colour as a PDF says it, of ``#rrggbb``."""
    return " ".join(f"{int(colour[at : at + 2], 16) / 255:.3f}" for at in (1, 3, 5))


def _string(text: str) -> bytes:
    """Words as a PDF holds them."""
    if not text.isascii():
        # UTF-16 behind its mark is the only way beyond Latin letters in this version of PDF.
        return b"<feff" + text.encode("utf-16-be").hex().encode() + b">"
    for plain, escaped in (("\\", r"\\"), ("(", r"\("), (")", r"\)"), ("\n", r"\n"), ("\r", r"\r")):
        text = text.replace(plain, escaped)
    return f"({text})".encode()
