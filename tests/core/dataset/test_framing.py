"""A picture comes to a model's size exactly as the usual pipelines bring it there."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from PIL import Image

from robgui.core.dataset import open_dataset
from robgui.core.dataset.framing import SQUASH, Framing
from robgui.core.dataset.images import fit

PILLOW = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}


def photo(height: int, width: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)


def torchvision_pipeline(pixels: np.ndarray, shorter: int, size: int, method) -> np.ndarray:
    """Resize(shorter) and CenterCrop(size), written from their documentation with Pillow alone."""
    image = Image.fromarray(pixels)
    width, height = image.size
    if width <= height:
        scaled = (shorter, int(shorter * height / width))
    else:
        scaled = (int(shorter * width / height), shorter)
    image = image.resize(scaled, method)
    left = round((image.width - size) / 2.0)
    top = round((image.height - size) / 2.0)
    return np.asarray(image.crop((left, top, left + size, top + size)))


@pytest.mark.parametrize("size", [(300, 500), (500, 300), (333, 333), (97, 211), (401, 256)])
@pytest.mark.parametrize("method", PILLOW)
def test_crop_is_resize_of_the_shorter_side_and_a_centre_crop(size, method):
    pixels = photo(*size)
    mine = Framing("crop", 0.875, method).apply(pixels, 224, 224)
    assert (mine == torchvision_pipeline(pixels, 256, 224, PILLOW[method])).all()


def test_squash_is_what_it_always_was():
    pixels = photo(90, 50)
    small = cv2.resize(pixels, (28, 28), interpolation=cv2.INTER_AREA)
    assert (SQUASH.apply(pixels, 28, 28) == small).all()
    assert (fit(pixels, (3, 28, 28)) == small.transpose(2, 0, 1).astype(np.float32) / 255).all()


def test_letterbox_keeps_the_proportions_and_fills_up_with_grey():
    framed = Framing("letterbox", interpolation="bilinear").apply(photo(50, 100), 64, 64)
    assert framed.shape == (64, 64, 3)
    assert (framed[:16] == 114).all() and (framed[48:] == 114).all()
    expected = Image.fromarray(photo(50, 100)).resize((64, 32), Image.Resampling.BILINEAR)
    assert (framed[16:48] == np.asarray(expected)).all()


def test_without_antialias_pixels_are_those_of_opencv():
    pixels = photo(100, 100)
    mine = Framing("squash", 1.0, "bilinear", antialias=False).apply(pixels, 40, 40)
    assert (mine == cv2.resize(pixels, (40, 40), interpolation=cv2.INTER_LINEAR)).all()
    assert (mine != Framing("squash", 1.0, "bilinear").apply(pixels, 40, 40)).any()


@pytest.mark.parametrize("size", [(300, 500), (500, 300), (97, 211)])
def test_squash_and_crop_is_both_sides_on_their_own_and_a_centre_crop(size):
    pixels = photo(*size)
    mine = Framing("squash-crop", 0.875, "bicubic").apply(pixels, 224, 224)
    squashed = Image.fromarray(pixels).resize((256, 256), Image.Resampling.BICUBIC)
    assert (mine == np.asarray(squashed.crop((16, 16, 240, 240)))).all()
    assert (mine != Framing("crop", 0.875, "bicubic").apply(pixels, 224, 224)).any()


@pytest.mark.parametrize("resize", ["squash", "crop", "squash-crop", "letterbox"])
def test_a_picture_that_has_the_size_is_taken_as_it_is(resize):
    pixels = photo(224, 224)
    assert Framing(resize, 0.875, "bicubic").apply(pixels, 224, 224) is pixels


@pytest.mark.parametrize("resize", ["squash", "crop", "letterbox"])
@pytest.mark.parametrize("size", [(1, 900), (900, 1), (2, 3), (223, 225)])
def test_any_size_becomes_the_one_asked_for_and_stays_within_black_and_white(resize, size):
    pixels = np.random.default_rng(1).random((*size, 1), dtype=np.float32)
    for method in ("area", *PILLOW):
        for antialias in (True, False):
            framed = Framing(resize, 0.875, method, antialias).apply(pixels, 32, 48)
            assert framed.shape == (32, 48, 1) and framed.min() >= 0 and framed.max() <= 1


def test_a_dataset_is_framed_without_becoming_another_one(tmp_path):
    Image.fromarray(photo(60, 90)).save(tmp_path / "a.png")
    plain = open_dataset(tmp_path)
    cropped = plain.framed(Framing("crop"))
    assert cropped.fingerprint == plain.fingerprint
    assert (cropped.array(shape=(3, 30, 30)) != plain.array(shape=(3, 30, 30))).any()
    assert cropped.framed(Framing("crop")) is cropped
