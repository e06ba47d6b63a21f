"""Which trackers there are, whether they are installed, and what they say; imports none of them."""

from __future__ import annotations

import re
from importlib.util import find_spec

#: What people call each tracker, and what pip does.
TRACKERS = {"mlflow": ("MLflow", "mlflow"), "wandb": ("Weights & Biases", "wandb")}


def lacking(tracker: str) -> str:
    """Why nothing can be logged there; empty if it can."""
    title, package = TRACKERS[tracker]
    if find_spec(tracker) is not None:
        return ""
    return f"{title} is not installed; install it beside robgui with: pip install {package}"


def reason(error: Exception) -> str:
    """What a tracker has to say, short enough for one sentence."""
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return re.split(r"\.\s", first)[0][:200].rstrip(".")
