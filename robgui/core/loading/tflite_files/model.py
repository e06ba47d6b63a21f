"""TensorFlow Lite files: LiteRT's interpreter as a black box."""

from __future__ import annotations

import math
import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from robgui.core.errors import MissingExtraError, ModelError
from robgui.core.loading.archive import Archive
from robgui.core.loading.detect import guesses_from_input
from robgui.core.loading.raw import Raw, reading, which_output
from robgui.core.loading.tflite_files.graph import refuse_confusion
from robgui.core.model.backend import CallableBackend, Capabilities, as_output, pick_output
from robgui.core.regular import open_regular, read_regular

#: Largest flatbuffer.
_LARGEST = 2**31 - 1
_LARGEST_NAMES = 10_000_000
#: Bytes that one tensor may take.
_MOST = 3 * 2**29
_REASON = "a TensorFlow Lite model gives outputs only"


class TfliteBackend(CallableBackend):
    """An interpreter: outputs only, on the CPU, one caller at a time.

    Integer inputs and outputs are quantised; this class takes and returns the numbers they stand
    for.
    """

    def __init__(self, content: bytes, output: int) -> None:
        super().__init__(self._ask, torch.device("cpu"), wants_numpy=True, gradients=False)
        self.capabilities = Capabilities(gradients=False, activations=False, reason=_REASON)
        self._content = content
        self._output = output
        self._lock = threading.Lock()
        self._shape: tuple[int, ...] = ()
        self._tried: set[tuple[int, ...]] = set()
        self._interpreter: Any = None

    def _ask(self, values: np.ndarray) -> Tensor:
        with self._lock:
            self._try(values)
            interpreter = self._sized(values.shape)
            given = interpreter.get_input_details()[0]
            interpreter.set_tensor(given["index"], _stored(values, given))
            interpreter.invoke()
            told = interpreter.get_output_details()[self._output]
            return as_output(_meant(interpreter.get_tensor(told["index"]), told))

    def _try(self, values: np.ndarray) -> None:
        """Tries inputs of a new shape first without the faster library, which trusts the graph.

        It assumes that every operation has all its inputs.
        """
        if values.shape[1:] in self._tried:
            return
        self._interpreter = None
        interpreter = _resized(interpreter_of(self._content, plain=True), values.shape)
        most = max(_size(each) for each in interpreter.get_tensor_details())
        if most > _MOST:
            raise ModelError(f"one of its tensors would take {most / 1e6:,.0f} MB of memory")
        given = interpreter.get_input_details()[0]
        interpreter.set_tensor(given["index"], _stored(values, given))
        interpreter.invoke()
        self._tried.add(values.shape[1:])

    def _sized(self, shape: tuple[int, ...]) -> Any:
        """The interpreter for a batch of this shape; one that failed to resize is rebuilt."""
        if self._interpreter is None or self._shape != shape:
            self._interpreter = None
            self._interpreter = _resized(interpreter_of(self._content), shape)
            self._shape = shape
        return self._interpreter


def load_tflite(path: Path, scores: str = "") -> Raw:
    """Reads a TensorFlow Lite file; ``scores`` says which of its outputs is meant."""
    with reading(path, "TensorFlow Lite"):
        try:
            interpreter = interpreter_of(content := read_regular(path, _LARGEST))
            refuse_confusion(path, content)
        except ImportError:
            raise MissingExtraError(f"{path}: a TensorFlow Lite model", "tflite") from None
        inputs, outputs = interpreter.get_input_details(), interpreter.get_output_details()
        if len(inputs) != 1:
            raise ModelError(f"{path}: it takes {len(inputs)} inputs; a classifier takes one.")
        names = [str(each["name"]) for each in outputs]
        chosen = pick_output(names, scores)
        told, remarks = _quantised(inputs[0])
        if len(names) > 1:
            remarks.append(which_output(chosen, len(names)))
        told |= _names(path, int(outputs[names.index(chosen)]["shape"][-1]))
    # "shape" has 1 where the signature has -1, any size.
    sizes = [int(size) if size > 0 else None for size in inputs[0]["shape_signature"]]
    return Raw(
        TfliteBackend(content, names.index(chosen)),
        told=told,
        guesses=guesses_from_input(sizes[1:]),
        remarks=(f"a black box: {_REASON}", *remarks),
    )


def interpreter_of(content: bytes, *, plain: bool = False) -> Any:
    """LiteRT's interpreter for the bytes of a file; a ``plain`` one checks every operation."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    kinds = OpResolverType
    if plain:
        resolver = kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    else:
        resolver = kinds.AUTO
    return Interpreter(
        model_content=content,
        num_threads=torch.get_num_threads(),
        experimental_op_resolver_type=resolver,
    )


def _resized(interpreter: Any, shape: tuple[int, ...]) -> Any:
    """The interpreter, ready for inputs of this shape."""
    given = interpreter.get_input_details()[0]
    if tuple(given["shape"]) != shape:
        interpreter.resize_tensor_input(given["index"], shape, strict=False)
    interpreter.allocate_tensors()
    return interpreter


def _size(told: dict[str, Any]) -> int:
    """Bytes of a tensor, as the interpreter describes it."""
    return int(math.prod(map(int, told["shape"])) * np.dtype(told["dtype"]).itemsize)


def _quantised(given: dict[str, Any]) -> tuple[dict[str, object], list[str]]:
    """The range of numbers that a byte of the input stands for."""
    scale, zero = given["quantization"]
    kind = np.dtype(given["dtype"])
    if kind.kind not in "iu":
        return {}, []
    # A scale of 0 says that nothing is quantised: plain bytes.
    if not scale:
        return {"high": (255.0,)}, ["it takes bytes"]
    limits = np.iinfo(kind)
    low, high = ((limit - zero) * float(scale) for limit in (limits.min, limits.max))
    if kind.itemsize > 1:
        return {}, []
    words = f"its input is quantised: bytes stand for numbers from {low:.3g} to {high:.3g}"
    return {"low": (low,), "high": (high,)}, [words]


def _stored(values: np.ndarray, given: dict[str, Any]) -> np.ndarray:
    """Numbers as the interpreter stores them."""
    kind = np.dtype(given["dtype"])
    if kind.kind not in "iu":
        return np.ascontiguousarray(values, dtype=kind)
    scale, zero = given["quantization"]
    limits = np.iinfo(kind)
    if scale:
        whole = np.round(values / scale + zero)
    else:
        whole = np.round(values)
    return np.ascontiguousarray(np.clip(whole, limits.min, limits.max), dtype=kind)


def _meant(stored: np.ndarray, told: dict[str, Any]) -> np.ndarray:
    """What the stored numbers stand for."""
    scale, zero = told["quantization"]
    if stored.dtype.kind not in "iu" or not scale:
        return stored
    # real = (stored - zero) · scale, as TensorFlow specifies 8-bit quantisation.
    return np.asarray((stored.astype(np.float32) - zero) * scale, dtype=np.float32)


def _names(path: Path, classes: int) -> dict[str, object]:
    """Class names in a file packed behind the model; empty if there is none."""
    with open_regular(path) as file:
        # TensorFlow Lite Metadata: a zip file appended to the flatbuffer, found from its end.
        if not zipfile.is_zipfile(file):
            return {}
    with Archive(path) as archive:
        for name in archive.names:
            if not name.endswith(".txt") or archive.size(name) > _LARGEST_NAMES:
                continue
            lines = archive.read(name).decode("utf-8", "replace").splitlines()
            labels = tuple(line.strip() for line in lines if line.strip())
            if len(labels) == classes:
                return {"labels": labels}
    return {}
