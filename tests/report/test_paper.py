"""A PDF written by hand: readers find its objects, its words can be searched, its pictures are those
that were given.
"""

from __future__ import annotations

import io
import re
import zlib

import numpy as np
import pytest
from PIL import Image

from robgui.report.paper import Document, packed


def written(**information):
    document = Document(8.27, 11.69)
    document.text("Größe ≤ 3 ✗", 1.0, 1.0, 10, "#102030", False)
    document.text("Heavy", 1.0, 2.0, 10, "#102030", True)
    document.rule(1.0, 3.0, 6.0, "#808080", 0.7)
    for _ in range(2):
        document.picture(packed(np.zeros((2, 3, 3), np.uint8)), 1.0, 4.0, 3.0, 2.0)
        document.end_page()
    return document.to_bytes({"Title": "Ürn", **information})


def streams(data):
    packed_parts = re.findall(rb"stream\n(.*?)\nendstream", data, re.DOTALL)
    return [zlib.decompress(part) for part in packed_parts]


def test_every_object_lies_where_the_table_says():
    data = written()
    start = int(re.search(rb"startxref\n(\d+)", data)[1])
    places = [int(one) for one in re.findall(rb"(\d{10}) 00000 n", data[start:])]
    for number, place in enumerate(places, 1):
        assert data[place:].startswith(f"{number} 0 obj".encode())
    assert len(re.findall(rb"/Type /Page\b", data)) == 2


def test_the_words_can_be_searched():
    data = written()
    meanings = next(one for one in streams(data) if b"beginbfchar" in one)
    pairs = re.findall(rb"<(\w{4})> <(\w+)>\n", meanings)
    letters = {code: bytes.fromhex(text.decode()).decode("utf-16-be") for code, text in pairs}
    page = next(one for one in streams(data) if one.startswith(b"BT"))
    codes = re.search(rb"<(\w+)> Tj", page)[1]
    line = "".join(letters[codes[at : at + 4]] for at in range(0, len(codes), 4))
    assert line == "Größe ≤ 3 ✗"


def test_a_picture_is_kept_once_and_words_are_escaped():
    data = written(Subject="a (b) \\\\ c\nd")
    assert data.count(b"/Subtype /Image") == 1
    assert rb"/Subject (a \(b\) \\\\ c\nd)" in data and b"/Title <feff" in data


@pytest.mark.parametrize("mode", ["P", "RGB", "L"])
def test_the_rows_of_a_png_file_are_taken_over(mode):
    pixels = np.random.default_rng(0).integers(0, 255, (5, 7, 3), np.uint8)
    image = Image.fromarray(pixels).convert(mode)
    buffer = io.BytesIO()
    image.save(buffer, "png")
    found = packed(buffer.getvalue())
    assert (found.width, found.height) == (7, 5)
    channels = 3 if mode == "RGB" else 1
    assert f"/Colors {channels} " in found.entries and "/Predictor 15" in found.entries
    # every row begins with the number of its filter
    assert len(zlib.decompress(found.data)) == 5 * (1 + 7 * channels)
    assert ("/Indexed" in found.entries) == (mode == "P")
