"""scikit-learn models from ``.skops`` files, and from pickles of trusted files."""

from __future__ import annotations

import math
import threading
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from robgui.core.errors import MissingExtraError, ModelError, TrustError
from robgui.core.loading.archive import Archive
from robgui.core.loading.detect import guesses_from_input
from robgui.core.loading.raw import TRUST, Raw, reading
from robgui.core.loading.sklearn_files.checks import fault, parts, tree_fault, unknown_estimators
from robgui.core.model.backend import CallableBackend, Capabilities
from robgui.core.npy import read_header

#: Types beyond skops' own list that need no trust. A compiled tree is a plain table of numbers;
#: skops leaves its content unchecked, so every index in it is looked at before it is used. A bunch
#: is a dictionary. An optimiser is a few settings and running averages that nothing uses once a
#: network is fitted.
_ALLOWED = frozenset(
    {
        "sklearn.tree._tree.Tree",
        "sklearn.utils._bunch.Bunch",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    }
)


def load_skops(path: Path, trust: bool) -> Raw:
    """Reads a skops file; types it does not know need trust."""
    try:
        from skops import io
    except ImportError:
        raise MissingExtraError(f"{path}: a scikit-learn model", "sklearn") from None
    with reading(path, "a skops file"):
        with Archive(path) as archive:
            archive.verify()
            if name := _short_array(archive):
                raise ModelError(f"{path} is damaged: its array {name!r} is not whole.")
            if tree_fault(archive):
                raise ModelError(
                    f"{path} is damaged or malicious: a decision tree in it is not the one it"
                    " declares."
                )
        unknown = sorted(set(io.get_untrusted_types(file=path)))
        refused = [name for name in unknown if name not in _ALLOWED]
        if refused and not trust:
            raise TrustError(_refusal(path, refused))
        estimator = io.load(path, trusted=unknown)
        unchecked = unknown_estimators(estimator)
        if unchecked and not trust:
            raise TrustError(_refusal(path, unchecked))
        return from_estimator(path, estimator, trust)


def _short_array(archive: Archive) -> str:
    """The first array whose header declares more than follows; NumPy would allocate it first."""
    for name in archive.names:
        if not name.endswith(".npy"):
            continue
        content = BytesIO(archive.read(name))
        dtype, shape, _ = read_header(content)
        rest = content.getbuffer().nbytes - content.tell()
        if not dtype.hasobject and math.prod(shape) * dtype.itemsize > rest:
            return name
    return ""


def _refusal(path: Path, names: list[str]) -> str:
    return (
        f"{path} is not loaded: these types are not known to be harmless ({', '.join(names[:5])});"
        f" {TRUST}."
    )


def from_estimator(path: Path, estimator: Any, trust: bool) -> Raw:
    """Wraps a fitted classifier.

    Without trust, only after checking every number its compiled code follows.
    """
    name = type(estimator).__name__
    method = next(
        (each for each in ("predict_proba", "decision_function") if hasattr(estimator, each)), ""
    )
    classes = getattr(estimator, "classes_", None)
    if not method or classes is None or not hasattr(estimator, "n_features_in_"):
        raise ModelError(
            f"{path} holds a {name}, which is not a fitted classifier with predict_proba or"
            " decision_function."
        )
    with reading(path, "a scikit-learn model"):
        if not trust and (reason := fault(estimator)):
            raise ModelError(f"{path} is damaged or malicious: {reason}.")
    features = tuple(str(each) for each in getattr(estimator, "feature_names_in_", ()))
    _settle_down(estimator)
    if features:
        told: dict[str, object] = {"features": features}
    else:
        told = {}
    labels = tuple(str(each) for each in np.asarray(classes).tolist())
    if len(labels) > 1:
        told["labels"] = labels
    if method == "predict_proba":
        told["output"] = "probabilities"
    else:
        told["output"] = "logits"
    guesses = guesses_from_input((int(estimator.n_features_in_),))
    return Raw(
        EstimatorBackend(estimator, method),
        told=told,
        guesses=guesses,
        remarks=(f"scikit-learn {name}, asked by {method}",),
    )


class EstimatorBackend(CallableBackend):
    """A scikit-learn classifier: outputs only, on the CPU.

    ``estimator`` is the classifier itself.
    """

    def __init__(self, estimator: Any, method: str) -> None:
        super().__init__(
            getattr(estimator, method), torch.device("cpu"), wants_numpy=True, gradients=False
        )
        self.capabilities = Capabilities(
            gradients=False, activations=False, reason="a scikit-learn model gives outputs only"
        )
        self.estimator = estimator
        self._one_at_a_time = threading.Lock()

    def __call__(self, x: Tensor) -> Tensor:
        with self._one_at_a_time:
            return super().__call__(x)


def _settle_down(estimator: Any) -> None:
    """Makes a model answer quietly.

    Without column names, which we keep, it gives no warning; it starts no processes and prints
    nothing.
    """
    for part in parts(estimator):
        own = getattr(part, "__dict__", {})
        own.pop("feature_names_in_", None)
        for name, quiet in (("n_jobs", None), ("verbose", 0)):
            if name in own:
                own[name] = quiet
