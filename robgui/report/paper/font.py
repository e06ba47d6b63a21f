"""A font as a PDF holds it: the outlines of the letters that are used, and what each one means."""

from __future__ import annotations

import io
import zlib
from typing import Any

from robgui.report.lettering import font_file, glyph_of

#: A PDF measures letters in thousandths of their size.
_UNITS = 1000
#: Letters in one part of the table of meanings, as many as a reader takes.
_MEANINGS = 100


class Font:
    """Letters of one weight; those that were asked for are embedded.

    Args:
        bold: Whether the letters are bold.
    """

    def __init__(self, bold: bool) -> None:
        self._bold = bold
        self._used: dict[int, str] = {}

    def codes(self, text: str) -> str:
        """A line as a PDF shows it: the number of each letter's outline."""
        found = []
        for letter in text:
            glyph = glyph_of(letter, bold=self._bold)
            self._used.setdefault(glyph, letter)
            found.append(f"{glyph:04x}")
        return "".join(found)

    def objects(self, first: int) -> list[bytes]:
        """The five objects of the font, the first with number ``first``."""
        from fontTools.ttLib import TTFont  # type: ignore[import-untyped]

        with TTFont(font_file(bold=self._bold)) as whole:
            units = whole["head"].unitsPerEm
            order, widths = whole.getGlyphOrder(), whole["hmtx"].metrics
            wide = {
                glyph: round(widths[order[glyph]][0] * _UNITS / units)
                for glyph in sorted(self._used)
            }
            box = [round(getattr(whole["head"], side) * _UNITS / units) for side in _BOX]
            up, down = (
                round(one * _UNITS / units) for one in (whole["hhea"].ascent, whole["hhea"].descent)
            )
            outlines = self._outlines(whole)
        # Six capitals and a plus sign mark a subset of a font (ISO 32000-1, 9.6.4).
        name = f"/ROBGUI+DejaVuSans{'-Bold' if self._bold else ''}"
        listed = " ".join(f"{glyph} [{width}]" for glyph, width in wide.items())
        system = "/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>"
        sides = " ".join(str(one) for one in box)
        return [
            f"<< /Type /Font /Subtype /Type0 /BaseFont {name} /Encoding /Identity-H"
            f" /DescendantFonts [{first + 1} 0 R] /ToUnicode {first + 4} 0 R >>".encode(),
            f"<< /Type /Font /Subtype /CIDFontType2 /BaseFont {name} {system}"
            f" /CIDToGIDMap /Identity /DW {_UNITS} /W [{listed}]"
            f" /FontDescriptor {first + 2} 0 R >>".encode(),
            # Flags 4, symbolic: the codes are glyph numbers of this font, in no standard encoding.
            f"<< /Type /FontDescriptor /FontName {name} /Flags 4 /FontBBox [{sides}]"
            f" /ItalicAngle 0 /Ascent {up} /Descent {down} /CapHeight {up} /StemV 80"
            f" /FontFile2 {first + 3} 0 R >>".encode(),
            stream(f"/Length1 {len(outlines)} /Filter /FlateDecode", zlib.compress(outlines)),
            stream("/Filter /FlateDecode", zlib.compress(self._meanings().encode())),
        ]

    def _outlines(self, whole: Any) -> bytes:
        """The file of the font with the letters that were used, each with its own number."""
        from fontTools import subset  # type: ignore[import-untyped]

        # Glyph numbers must not move: the pages are written in them.
        options = subset.Options(
            retain_gids=True, notdef_outline=True, hinting=False, layout_features=[]
        )
        options.drop_tables += ["FFTM", "kern", "name", "post"]
        # What a PDF has no use for goes first: cutting it takes longer than all the rest.
        for table in ("GSUB", "GPOS", "GDEF"):
            if table in whole:
                del whole[table]
        cutter = subset.Subsetter(options)
        cutter.populate(gids=sorted(self._used))
        cutter.subset(whole)
        buffer = io.BytesIO()
        whole.save(buffer)
        return buffer.getvalue()

    def _meanings(self) -> str:
        """Which letter each outline is, so text can be searched and copied."""
        pairs = [f"<{g:04x}> <{text.encode('utf-16-be').hex()}>" for g, text in self._used.items()]
        parts = [pairs[at : at + _MEANINGS] for at in range(0, len(pairs), _MEANINGS)]
        told = "\n".join(
            f"{len(part)} beginbfchar\n{chr(10).join(part)}\nendbfchar" for part in parts
        )
        return (
            "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n"
            "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n"
            "/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n"
            "1 begincodespacerange\n<0000> <ffff>\nendcodespacerange\n"
            f"{told}\nendcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"
        )


_BOX = ("xMin", "yMin", "xMax", "yMax")


def stream(entries: str, data: bytes) -> bytes:
    """An object with data."""
    return f"<< /Length {len(data)} {entries} >>\nstream\n".encode() + data + b"\nendstream"
