"""Pictures of a report: small files that look like the drawing."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image

from robgui.report.drawing import draw_view, pixels
from robgui.report.pictures import WIDE, drawing_address
from tests.gui import sample_views as samples


def drawn(view):
    data = base64.b64decode(drawing_address(view).partition(",")[2])
    with Image.open(io.BytesIO(data)) as image:
        return len(data), np.asarray(image.convert("RGB")).astype(int)


@pytest.mark.parametrize("name", ["curves", "matrix", "bars", "images"])
def test_few_colours_look_like_the_drawing_and_its_ground_is_that_of_the_page(name):
    size, found = drawn(samples.ALL[name])
    whole = pixels(draw_view(samples.ALL[name]), WIDE)[..., :3].astype(int)
    assert found.shape == whole.shape and size < 100_000
    assert len(np.unique(found.reshape(-1, 3), axis=0)) <= 128
    assert np.abs(found - whole).mean() < 2
    assert (found[0, 0] == whole[0, 0]).all() and (found[-1, -1] == whole[-1, -1]).all()
