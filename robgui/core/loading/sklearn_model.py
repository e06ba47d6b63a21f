"""scikit-learn models from ``.skops`` files, and from pickles of trusted files."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from robgui.core.errors import MissingExtraError, ModelError, TrustError
from robgui.core.loading.archive import Archive
from robgui.core.loading.detect import guesses_from_input
from robgui.core.loading.raw import TRUST, Raw, reading
from robgui.core.model.backend import CallableBackend, Capabilities

#: Types beyond skops' own list that need no trust. A compiled tree is a plain table of numbers; skops leaves its
#: content unchecked, so ``_check_trees`` looks at every index in it before it is used.
#: An optimiser is a few settings and running averages that nothing uses once a network is fitted.
_ALLOWED = frozenset(
    {
        "sklearn.tree._tree.Tree",
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
    with Archive(path) as archive:
        archive.verify()
    with reading(path, "a skops file"):
        unknown = sorted(set(io.get_untrusted_types(file=path)))
        refused = [name for name in unknown if name not in _ALLOWED]
        shown = ", ".join(refused[:5])
        if refused and not trust:
            raise TrustError(f"{path} is not loaded: these types are not known to be harmless ({shown}); {TRUST}.")
        return from_estimator(path, io.load(path, trusted=unknown))


def from_estimator(path: Path, estimator: Any) -> Raw:
    """Wraps a fitted classifier."""
    name = type(estimator).__name__
    method = next((each for each in ("predict_proba", "decision_function") if hasattr(estimator, each)), "")
    classes = getattr(estimator, "classes_", None)
    if not method or classes is None or not hasattr(estimator, "n_features_in_"):
        raise ModelError(f"{path} holds a {name}, which is not a fitted classifier with predict_proba or decision_function.")
    _check_trees(path, estimator)
    features = tuple(str(each) for each in getattr(estimator, "feature_names_in_", ()))
    _forget_names(estimator)
    told: dict[str, object] = {"features": features} if features else {}
    labels = tuple(str(each) for each in np.asarray(classes).tolist())
    if len(labels) > 1:
        told["labels"] = labels
    told["output"] = "probabilities" if method == "predict_proba" else "logits"
    guesses = guesses_from_input((int(estimator.n_features_in_),))
    return Raw(EstimatorBackend(estimator, method), told=told, guesses=guesses, remarks=(f"scikit-learn {name}, asked by {method}",))


class EstimatorBackend(CallableBackend):
    """A scikit-learn classifier: outputs only, on the CPU; ``estimator`` is the classifier itself."""

    def __init__(self, estimator: Any, method: str) -> None:
        super().__init__(getattr(estimator, method), torch.device("cpu"), wants_numpy=True, gradients=False)
        self.capabilities = Capabilities(gradients=False, activations=False, reason="a scikit-learn model gives outputs only")
        self.estimator = estimator
        self._one_at_a_time = threading.Lock()

    def __call__(self, x: Tensor) -> Tensor:
        with self._one_at_a_time:
            return super().__call__(x)


def _check_trees(path: Path, estimator: Any) -> None:
    """Refuses trees whose indices lead outside, backwards or in circles: scikit-learn follows them unchecked."""
    for owner in _parts(estimator):
        tree = getattr(owner, "tree_", None)
        children = () if hasattr(owner, "estimators_features_") else np.ravel(np.asarray(getattr(owner, "estimators_", ()), dtype=object))
        narrow = all(child.n_features_in_ == owner.n_features_in_ for child in children if hasattr(child, "tree_"))
        if not narrow or (tree is not None and not _is_sound(tree, owner.n_features_in_)):
            raise ModelError(f"{path} is damaged or malicious: a decision tree in it points outside itself.")


def _is_sound(tree: Any, features: int) -> bool:
    left, right, feature = np.asarray(tree.children_left), np.asarray(tree.children_right), np.asarray(tree.feature)
    inner = left != -1
    here = np.flatnonzero(inner)
    forward = bool((left[inner] > here).all() and (right[inner] > here).all())
    inside = bool((left < len(left)).all() and (right < len(left)).all())
    known = bool(((feature[inner] >= 0) & (feature[inner] < features)).all())
    return len(left) > 0 and forward and inside and known


def _forget_names(estimator: Any) -> None:
    """Without the column names scikit-learn takes plain arrays without a warning; we keep the names ourselves."""
    for part in _parts(estimator):
        vars_of = getattr(part, "__dict__", {})
        vars_of.pop("feature_names_in_", None)


def _parts(root: Any) -> Iterator[Any]:
    """Everything inside an estimator, each once."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        value = stack.pop()
        if id(value) in seen or isinstance(value, str | bytes | int | float | type(None)):
            continue
        seen.add(id(value))
        yield value
        if isinstance(value, dict):
            stack.extend(value.values())
        elif isinstance(value, list | tuple | set):
            stack.extend(value)
        elif isinstance(value, np.ndarray):
            stack.extend(value.ravel().tolist() if value.dtype == object else ())
        else:
            stack.extend(getattr(value, "__dict__", {}).values())
