"""path -> Classifier."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from robgui.core.devices import default_device
from robgui.core.errors import ModelError, TrustError
from robgui.core.identify import Format
from robgui.core.loading.detect import settle
from robgui.core.loading.exported import load_exported
from robgui.core.loading.folders import load_folder
from robgui.core.loading.keras_files import load_keras
from robgui.core.loading.onnx_files import load_onnx
from robgui.core.loading.pair import load_pair
from robgui.core.loading.pickles import listing
from robgui.core.loading.raw import TRUST, Raw, reading
from robgui.core.loading.script import load_script
from robgui.core.loading.sklearn_files.model import from_estimator, load_skops
from robgui.core.loading.sniff import sniff
from robgui.core.loading.tflite_files.model import load_tflite
from robgui.core.loading.weights import from_object, load_safetensors, load_weights
from robgui.core.model.backend import TorchBackend, first_line
from robgui.core.model.class_names import with_names_read
from robgui.core.model.classifier import Classifier
from robgui.core.model.folder import files_of, folder_of
from robgui.core.model.settings import parse, read_side_file
from robgui.core.regular import open_regular

_CHUNK = 2**20


def load(
    path: str | Path,
    *,
    trust: bool = False,
    device: str | torch.device | None = None,
    **overrides: Any,
) -> Classifier:
    """Loads a model file as a Classifier.

    What ``overrides`` leave open is taken from the side file ``<model>.toml``, then from the file
    itself, then guessed; the classifier's ``remarks`` say what was found and guessed.

    Args:
        path: The file; its format is told from its content.
        trust: Allows a file to execute code (pickled networks, architecture files).
        device: Where to run; CUDA when present if not given.
        overrides: Fields of ModelSettings; ``labels`` may also be the name of a file of class
            names.
    """
    path = Path(path)
    given = {**read_side_file(path), **with_names_read(overrides, path.parent)}
    kind = _kind(path, given)
    # Before the file is read: a typo in the settings need not cost a minute of loading.
    parse(given, f"{path}: settings")
    raw = _read(path, kind, trust, str(given.get("architecture", "")), str(given.get("scores", "")))
    raw = _move(raw, path, default_device() if device is None else device)
    classifier = settle(raw, given, str(path), _digest(_files(path, kind), raw.content))
    classifier.name, classifier.path = path.name, path
    if kind is Format.FOLDER:
        what = "model folder"
    else:
        what = f"{kind} file"
    classifier.remarks = (what, *classifier.remarks)
    return classifier


def _kind(path: Path, given: Mapping[str, object]) -> Format:
    """The format to read.

    Weights beside their description belong to that folder, unless the user names a network.
    """
    kind = sniff(path)
    part = not given.get("architecture") and folder_of(path) is not None
    if part:
        return Format.FOLDER
    return kind


def _files(path: Path, kind: Format) -> list[Path]:
    if kind is Format.FOLDER:
        folder = folder_of(path)
    else:
        folder = None
    if folder is None:
        return [path]
    return files_of(folder)


def _read(path: Path, kind: Format, trust: bool, architecture: str, scores: str) -> Raw:
    match kind:
        case Format.EXPORTED:
            return load_exported(path, trust, scores)
        case Format.ONNX:
            return load_onnx(path, scores)
        case Format.SKOPS:
            return load_skops(path, trust)
        case Format.KERAS | Format.KERAS_HDF5:
            return load_keras(path, kind, trust)
        case Format.TFLITE:
            return load_tflite(path, scores)
        case Format.PAIR:
            return load_pair(path)
        case Format.FOLDER:
            raw = load_folder(folder_of(path) or path)
        case Format.SCRIPT:
            raw = load_script(path, trust)
        case Format.SAFETENSORS:
            raw = load_safetensors(path, trust, architecture)
        case Format.PICKLE:
            raw = _load_pickle(path, trust)
        case _:
            raw = load_weights(path, trust, architecture)
    if isinstance(raw.backend, TorchBackend):
        # Networks choose among their outputs at each call; the other readers have chosen already.
        raw.backend.scores = scores
    return raw


def _load_pickle(path: Path, trust: bool) -> Raw:
    """A plain pickle (not torch's): a scikit-learn model or a network, if the user trusts it."""
    if not trust:
        with open_regular(path) as file:
            found = listing(file)
        if found.names:
            shown = f" that would import {', '.join(found.names[:3])}"
        else:
            shown = ""
        if shown and (len(found.names) > 3 or not found.whole):
            shown += " and more"
        raise TrustError(
            f"{path} is not loaded: it is a Python pickle{shown}, and pickles can execute anything;"
            f" {TRUST}."
        )
    with reading(path, "a pickle"):
        stored = _unpickle(path)
    return from_object(path, stored) or from_estimator(path, stored, trust)


def _unpickle(path: Path) -> object:
    """Executes a pickle; joblib's own reader knows arrays that the standard one does not."""
    try:
        import joblib
    except ImportError:
        with open_regular(path) as file:
            return pickle.load(file)  # noqa: S301  (only after the user has said that they trust the file)
    return joblib.load(path)


def _move(raw: Raw, path: Path, device: str | torch.device) -> Raw:
    try:
        backend = raw.backend.to(torch.device(device))
    except (RuntimeError, AssertionError, ValueError, NotImplementedError) as error:
        raise ModelError(
            f"{path} cannot be put on the device {device}: {first_line(error)}; choose cpu or"
            " another device."
        ) from error
    return replace(raw, backend=backend)


def _digest(paths: Sequence[Path], more: str) -> str:
    digest = hashlib.sha256(more.encode())
    for path in paths:
        with open_regular(path) as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    return digest.hexdigest()
