"""What a format's reader returns: the raw model and everything its file says."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor

from robgui.core.errors import ModelError, RobguiError
from robgui.core.model.backend import Backend, first_line

#: What every refusal advises.
TRUST = "load it only if you trust where it comes from"


@dataclass(frozen=True, slots=True)
class FirstLayer:
    """The layer that meets the input.

    ``size`` is its number of channels (conv) or features (linear).

    ``large`` says that images are probably as large as ImageNet's: a kernel of 7 or more, or 1,000
    classes.
    """

    conv: bool
    size: int
    large: bool = False


@dataclass(frozen=True, slots=True)
class Raw:
    """A raw model with the settings from its file.

    Attributes:
        backend: The model.
        told: Fields of ModelSettings that the file itself states.
        remarks: Sentences for the user about what was found.
        first: The layer that meets the input, if visible.
        guesses: Settings to try, in this order, if the file leaves a choice.
        content: Anything beside the file that belongs to the model's fingerprint.
    """

    backend: Backend
    told: dict[str, object] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    first: FirstLayer | None = None
    guesses: tuple[dict[str, object], ...] = ()
    content: str = ""


def first_layer(weights: Mapping[str, Any]) -> FirstLayer | None:
    """The first convolution or linear weight in order of declaration, usually the order of use."""
    layers = [
        weight
        for name, weight in weights.items()
        if isinstance(weight, Tensor) and name.endswith("weight") and "embed" not in name
    ]
    layers = [weight for weight in layers if weight.ndim in (2, 4)]
    if not layers:
        return None
    first, last = layers[0], layers[-1]
    # ResNet and its kin begin with 7 × 7, and ImageNet has 1,000 classes.
    large = first.ndim == 4 and (int(first.shape[-1]) >= 7 or int(last.shape[0]) == 1000)
    return FirstLayer(conv=first.ndim == 4, size=int(first.shape[1]), large=large)


def which_output(taken: str, count: int) -> str:
    """The remark on a model with several outputs."""
    return (
        f"the output {taken!r} of {count} is taken for the scores; the setting scores takes"
        " another one"
    )


@contextmanager
def reading(path: Path, what: str) -> Iterator[None]:
    """Turns whatever a foreign reader raises into one ModelError, and mutes its warnings."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except RobguiError:
        raise
    except MemoryError as error:
        raise ModelError(f"{path} needs more memory than there is.") from error
    except OSError as error:
        raise ModelError(
            f"{path} cannot be read: {error.strerror or first_line(error)}."
        ) from error
    except Exception as error:  # Foreign readers raise everything; the sentence keeps the reason.
        raise ModelError(
            f"{path} cannot be read as {what}; it is damaged or made by another version"
            f" ({first_line(error)})."
        ) from error
