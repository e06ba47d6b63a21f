"""Exports are drawn from the views: with title and provenance, as pictures, films and numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from robgui.core.errors import RobguiError
from robgui.gui.show import export
from tests.gui import sample_views as samples

WHOLE = export.Exported(
    tuple(samples.ALL.values()), "Sampled views", "a model on input 6", "robgui, seed 0"
)
STILLS = export.Exported(
    (samples.curves(), samples.table()), "Two views", "a model", "robgui, seed 0"
)


@pytest.mark.parametrize("ending", export.PICTURE_ENDINGS)
def test_a_picture_has_title_subject_and_provenance(tmp_path, ending):
    path = tmp_path / f"a{ending}"
    export.save_picture(STILLS, path)
    content = path.read_bytes()
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    assert content.startswith(starts[ending])
    if ending == ".svg":
        words = content.decode()
        for wanted in ("Two views", "a model", "robgui, seed 0", "mean confidence", "Shirt"):
            assert wanted in words


def test_all_views_of_every_kind_go_into_one_picture(tmp_path):
    export.save_picture(WHOLE, tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.height > picture.width, "eight views below each other"


def test_the_picture_for_the_clipboard_has_the_width_that_was_asked_for():
    pixels = export.to_pixels(STILLS, 600)
    assert pixels.dtype == np.uint8 and pixels.shape[1:] == (600, 3) and len(np.unique(pixels)) > 10


@pytest.mark.parametrize("ending", export.FILM_ENDINGS)
def test_a_film_is_written_as_an_animation_and_stills_are_refused(tmp_path, ending):
    path = tmp_path / f"a{ending}"
    export.save_picture(WHOLE, path)
    assert path.stat().st_size > 1000
    with pytest.raises(RobguiError, match="Two views has no animation"):
        export.save_picture(STILLS, tmp_path / f"b{ending}")


def test_numbers_are_one_csv_for_each_view_and_one_npz_for_all(tmp_path):
    files = export.save_numbers(STILLS, tmp_path / "a.csv")
    assert [file.name for file in files] == ["a.csv", "a-pairs.csv"]
    assert files[0].read_text().splitlines()[0].startswith("radius")
    assert export.save_numbers(WHOLE, tmp_path / "a.npz") == [tmp_path / "a.npz"]
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        assert any(name.startswith("confidence/") for name in arrays)
        assert any(name.startswith("distance/") for name in arrays)


def test_a_strange_ending_a_missing_folder_and_nothing_to_export_are_one_sentence_each(tmp_path):
    with pytest.raises(RobguiError, match=r"\.png, \.svg, \.pdf"):
        export.save_picture(STILLS, tmp_path / "a.bmp")
    with pytest.raises(RobguiError, match=r"\.csv, \.npz"):
        export.save_numbers(STILLS, tmp_path / "a.txt")
    for write in (
        export.save_picture,
        lambda what, path: export.save_numbers(what, path.with_suffix(".csv")),
    ):
        with pytest.raises(RobguiError, match="cannot be written"):
            write(STILLS, tmp_path / "missing" / "a.png")
    with pytest.raises(RobguiError, match="no picture yet"):
        export.to_pixels(export.Exported((), "Nothing", "", ""))


def test_the_name_of_a_file_is_made_of_letters_and_digits():
    assert export.slug("Share of the range: safe / unsafe?") == "share-of-the-range-safe-unsafe"
    assert export.slug("…") == "view"
    assert Path(export.slug("../../etc")).name == "etc"
