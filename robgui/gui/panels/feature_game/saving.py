"""The example on show as PNG files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robgui.core.errors import RobguiError

if TYPE_CHECKING:
    from robgui.analyses.feature_game import FeatureGameResult


def save_example(result: FeatureGameResult, path: Path) -> list[Path]:
    """Writes the example, the difference and the changed pixels as PNG, at the image's size."""
    from PIL import Image

    from robgui.analyses.feature_game import pictures

    made = pictures(result)
    grey = result.input.shape[0] == 1
    files = {
        path: made["example"][:, :, 0] if grey else made["example"],
        path.with_name(f"{path.stem}-difference.png"): made["difference"],
        path.with_name(f"{path.stem}-changed.png"): made["changed"][:, :, 0],
    }
    try:
        for file, pixels in files.items():
            Image.fromarray(np.ascontiguousarray(pixels)).save(file, format="PNG")
    except OSError as error:
        raise RobguiError(
            f"{path} cannot be written ({error.strerror}); choose a folder you may write to."
        ) from error
    return list(files)
