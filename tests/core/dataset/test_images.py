"""Image files of every kind become the right pixels, and pixels the right shape."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from robgui.core.dataset import open_dataset
from robgui.core.dataset.framing import area
from robgui.core.dataset.images import fit, image_shape, read_image, thumbnail, value_range
from robgui.core.errors import DataError

_COLOURS = np.array(
    [[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [10, 120, 250]], [[1, 2, 3], [200, 200, 200]]],
    np.uint8,
)


@pytest.mark.parametrize("suffix", [".png", ".bmp", ".tif", ".webp", ".ppm"])
def test_lossless_formats_give_their_exact_pixels(tmp_path: Path, suffix: str):
    path = tmp_path / f"a{suffix}"
    Image.fromarray(_COLOURS).save(path, **({"lossless": True} if suffix == ".webp" else {}))
    dataset = open_dataset(path)
    assert dataset.shape == (3, 3, 2)
    np.testing.assert_allclose(dataset.array()[0], _COLOURS.transpose(2, 0, 1) / 255, atol=1e-6)


def test_jpeg_and_gif_give_nearly_their_pixels(tmp_path: Path):
    smooth = np.linspace(0, 255, 32 * 32 * 3).reshape(32, 32, 3).astype(np.uint8)
    Image.fromarray(smooth).save(tmp_path / "a.jpg", quality=98)
    Image.fromarray(smooth[:, :, 0]).save(tmp_path / "a.gif")
    assert np.abs(read_image(tmp_path / "a.jpg").astype(int) - smooth).max() < 16
    assert np.abs(read_image(tmp_path / "a.gif")[:, :, 0].astype(int) - smooth[:, :, 0]).max() < 16


@pytest.mark.parametrize("suffix", [".png", ".tif"])
def test_sixteen_bit_grey_keeps_its_depth(tmp_path: Path, suffix: str):
    values = np.array([[0, 1, 257], [1000, 40000, 65535]], np.uint16)
    Image.fromarray(values).save(tmp_path / f"a{suffix}")
    np.testing.assert_allclose(
        open_dataset(tmp_path / f"a{suffix}").array()[0, 0], values / 65535, atol=1e-6
    )


def test_a_float_tiff_in_zero_to_one_is_taken_as_it_is(tmp_path: Path):
    values = np.array([[0, 0.25], [0.5, 1]], np.float32)
    Image.fromarray(values).save(tmp_path / "a.tif")
    np.testing.assert_allclose(open_dataset(tmp_path / "a.tif").array()[0, 0], values)


def test_a_palette_becomes_its_colours(tmp_path: Path):
    Image.fromarray(_COLOURS).quantize(8).save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_image(tmp_path / "a.png"), _COLOURS)


def test_one_bit_images_are_black_and_white(tmp_path: Path):
    Image.fromarray(np.array([[True, False]])).save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_image(tmp_path / "a.png")[:, :, 0], [[255, 0]])


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_transparency_lies_on_white(tmp_path: Path, mode: str):
    black = (0,) * (len(mode) - 1)
    image = Image.new(mode, (2, 1), (*black, 0))
    image.putpixel((1, 0), (*black, 255))
    image.save(tmp_path / "a.png")
    pixels = read_image(tmp_path / "a.png")
    assert pixels.shape == (1, 2, 3 if mode == "RGBA" else 1)
    assert (pixels[0, 0] == 255).all() and (pixels[0, 1] == 0).all()


def test_cmyk_becomes_rgb(tmp_path: Path):
    Image.new("CMYK", (8, 8), (255, 0, 0, 0)).save(tmp_path / "a.jpg", quality=100)
    red, green, blue = read_image(tmp_path / "a.jpg")[4, 4].astype(int)
    assert red < 10 and green > 245 and blue > 245


@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_exif_orientation_is_applied(tmp_path: Path, orientation: int):
    from PIL import ImageOps

    image = Image.fromarray(_COLOURS)
    exif = Image.Exif()
    exif[0x0112] = orientation
    image.save(tmp_path / "a.png", exif=exif)
    with Image.open(tmp_path / "a.png") as stored:
        expected = np.asarray(ImageOps.exif_transpose(stored))
    np.testing.assert_array_equal(read_image(tmp_path / "a.png"), expected)
    assert image_shape(tmp_path / "a.png") == (3, *expected.shape[:2])


def test_a_small_version_of_a_jpeg_is_still_large_enough(tmp_path: Path):
    Image.new("RGB", (1600, 1200), "red").save(tmp_path / "a.jpg")
    assert min(read_image(tmp_path / "a.jpg", at_least=100).shape[:2]) in range(100, 400)


def test_a_pixel_bomb_is_refused_in_one_sentence(tmp_path: Path):
    buffer = io.BytesIO()
    Image.new("1", (16, 16)).save(buffer, "PNG")
    for width, height in ((9000, 9000), (12000, 12000), (60000, 60000)):
        header = bytearray(buffer.getvalue())
        header[16:24] = width.to_bytes(4, "big") + height.to_bytes(4, "big")
        import zlib

        header[29:33] = zlib.crc32(header[12:29]).to_bytes(4, "big")
        (tmp_path / "a.png").write_bytes(header)
        with pytest.raises(DataError, match="million pixels"):
            read_image(tmp_path / "a.png")


def test_grey_is_rec_601_as_in_pillow():
    pixels = np.random.default_rng(0).integers(0, 256, (16, 16, 3), np.uint8)
    expected = np.asarray(Image.fromarray(pixels).convert("L")) / 255
    np.testing.assert_allclose(fit(pixels, (1, 16, 16))[0], expected, atol=0.6 / 255)


def test_colour_from_grey_repeats_the_channel():
    pixels = np.arange(16, dtype=np.uint8).reshape(4, 4, 1)
    x = fit(pixels, (3, 4, 4))
    assert x.dtype == np.float32
    for channel in x:
        np.testing.assert_allclose(channel, pixels[:, :, 0] / 255, atol=1e-7)


def test_shrinking_averages_areas():
    pixels = np.random.default_rng(0).random((8, 12, 3)).astype(np.float32)
    expected = pixels.reshape(4, 2, 4, 3, 3).mean((1, 3))
    np.testing.assert_allclose(area(pixels, 4, 4), expected, atol=1e-6)


def test_growing_interpolates_linearly():
    ramp = np.linspace(0, 1, 5, dtype=np.float32)[None, :, None]
    grown = area(ramp, 1, 10)[0, :, 0]
    np.testing.assert_allclose(
        grown[1:-1],
        np.interp((np.arange(10) + 0.5) / 2 - 0.5, np.arange(5), ramp[0, :, 0])[1:-1],
        atol=1e-6,
    )


def test_one_side_may_shrink_while_the_other_grows():
    pixels = np.repeat(np.array([0, 1], np.float32), 4).reshape(8, 1, 1)
    np.testing.assert_allclose(area(pixels, 2, 3)[:, :, 0], [[0, 0, 0], [1, 1, 1]])


@given(
    st.integers(1, 40),
    st.integers(1, 40),
    st.sampled_from([1, 3]),
    st.integers(1, 40),
    st.integers(1, 40),
    st.sampled_from([1, 3]),
)
def test_fitting_keeps_constants_and_the_range(
    height: int, width: int, channels: int, new_height: int, new_width: int, new_channels: int
):
    constant = fit(
        np.full((height, width, channels), 51, np.uint8), (new_channels, new_height, new_width)
    )
    assert constant.shape == (new_channels, new_height, new_width)
    np.testing.assert_allclose(constant, 0.2, atol=1e-6)


def test_other_channel_counts_are_refused():
    with pytest.raises(DataError, match="2 channels"):
        fit(np.zeros((4, 4, 2), np.uint8), (3, 4, 4))


@given(st.integers(1, 300), st.integers(1, 300), st.integers(1, 128))
def test_a_thumbnail_fits_and_is_never_enlarged(height: int, width: int, size: int):
    small = thumbnail(np.zeros((height, width, 1), np.uint8), size)
    assert small.dtype == np.uint8 and small.shape[2] == 3
    assert max(small.shape[:2]) <= size and small.shape[0] <= height and small.shape[1] <= width


@pytest.mark.parametrize(
    ("values", "high"),
    [
        (np.array([0, 255], np.uint8), 255),
        (np.array([0, 1], np.uint8), 1),
        (np.array([True, False]), 1),
        (np.array([0.0, 1.0]), 1),
        (np.array([0.0, 254.0]), 255),
        (np.array([0, 60000], np.uint16), 65535),
        (np.array([0, 200], np.int64), 255),
    ],
)
def test_white_is_told_from_the_values(values: np.ndarray, high: int):
    assert value_range(values) == (0, high)


@pytest.mark.parametrize("values", [[-2.1, 2.6], [0, 1.5], [0, 300.0], [0, np.nan]])
def test_values_that_are_no_pixels_are_refused(values: list[float]):
    with pytest.raises(DataError):
        value_range(np.array(values))
