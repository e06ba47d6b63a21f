"""ONNX files: onnxruntime as a black box, and torch if a translation proves equal."""

from __future__ import annotations

import copy
import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from robgui.core.errors import MissingExtraError, ModelError
from robgui.core.loading.detect import guesses_from_input, raw_shape
from robgui.core.loading.fixed_batch import FixedBatch
from robgui.core.loading.onnx_files.session import OnnxBackend, OversizedModelError
from robgui.core.loading.onnx_ops import UntranslatedError
from robgui.core.loading.onnx_to_torch import OnnxModule
from robgui.core.loading.raw import Raw, reading, which_output
from robgui.core.model.backend import Backend, TorchBackend, first_line, pick_output
from robgui.core.model.class_names import names_in
from robgui.core.model.settings import parse
from robgui.core.regular import beside, is_file, read_regular

#: Largest protobuf message, including its external data.
_LARGEST = 2**31 - 1
#: Metadata keys under which exporters store class names; Ultralytics' first.
_NAME_KEYS = ("names", "class_names", "labels", "classes", "id2label")
#: Largest difference, relative to the largest score, at which two answers count as equal.
_EQUAL = 1e-3


def load_onnx(path: Path, scores: str = "") -> Raw:
    """Reads an ONNX file; ``scores`` says which of its outputs is meant."""
    try:
        import onnx
        import onnxruntime  # noqa: F401  (asked for here, so a missing package is said at once)
    except ImportError:
        raise MissingExtraError(f"{path}: an ONNX model", "onnx") from None
    try:
        with reading(path, "ONNX"):
            # From bytes: given a path, onnx would open external data by itself, before any check.
            model = onnx.load_model_from_string(read_regular(path, _LARGEST))
            _refuse_foreign_files(path.parent, model)
            onnx.load_external_data_for_model(model, str(path.parent))
            _refuse_unread_files(model)
            _refuse_gaps(model.graph)
            # The digest covers external data too, which the file alone does not.
            # Serialised again after loading, with the external data inside.
            content = hashlib.sha256(model.SerializeToString()).hexdigest()
            return replace(_raw(model, scores), content=content, told=_names(model))
    except ModelError as error:
        if str(path) in str(error):
            raise
        raise ModelError(f"{path}: {error}.") from error


def _refuse_gaps(graph: Any) -> None:
    """Refuses an operation with a gap in a variable-length input list.

    The runtime would read past its end.
    """
    from onnx import defs

    optional = defs.OpSchema.FormalParameterOption.Optional
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                _refuse_gaps(inner)
        if node.domain not in ("", "ai.onnx") or "" not in node.input:
            continue
        # A variadic input repeats the last formal parameter.
        known = defs.has(node.op_type) and defs.get_schema(node.op_type).inputs
        for place, name in enumerate(node.input):
            if not name and known and known[min(place, len(known) - 1)].option != optional:
                raise ModelError(f"its operation {node.op_type} lacks input {place + 1}")


def _raw(model: Any, scores: str) -> Raw:
    name, sizes = _input(model)
    output = _output(model, scores)
    cpu = torch.device("cpu")
    guesses = guesses_from_input(sizes[1:])
    batch = sizes[0]
    box: Backend = OnnxBackend(model.SerializeToString(), output, cpu)
    if len(model.graph.output) > 1:
        remarks = [which_output(output, len(model.graph.output))]
    else:
        remarks = []
    if batch is not None:
        box = FixedBatch(box, batch)
    shape = _working_shape(box, guesses)
    # Some graphs declare a free batch but hold a Reshape to 1: they work one by one.
    if not shape and batch is None and (shape := _working_shape(FixedBatch(box, 1), guesses)):
        box, batch = FixedBatch(box, 1), 1
    if shape and batch is not None:
        box, model, freed = _free_batch(model, output, box, shape)
        remarks.append(
            f"made for batches of {batch}; "
            + (
                "it takes any size after a checked change"
                if freed
                else "other sizes are cut and filled up"
            )
        )
        batch = None if freed else batch
    if shape:
        white, reason = _translate(model, name, output, box, batch, shape)
    else:
        white, reason = (None, "the shape of its input is not known")
    if white is not None:
        return Raw(white, remarks=(*remarks, reason), guesses=guesses)
    remarks.append(f"a black box: {reason}")
    # The session is made again to carry the reason, which its capabilities show.
    explained = OnnxBackend(model.SerializeToString(), output, cpu, reason)
    return Raw(
        FixedBatch(explained, batch) if batch is not None else explained,
        remarks=tuple(remarks),
        guesses=guesses,
    )


def _names(model: Any) -> dict[str, object]:
    """Class names that the exporter wrote into the model."""
    written = {str(each.key): str(each.value) for each in model.metadata_props}
    for key in _NAME_KEYS:
        if labels := names_in(written.get(key, "")):
            return {"labels": labels}
    return {}


def _input(model: Any) -> tuple[str, list[int | None]]:
    stored = {each.name for each in model.graph.initializer}
    # Old files list weights among the inputs.
    inputs = [each for each in model.graph.input if each.name not in stored]
    if len(inputs) != 1:
        raise ModelError(f"it takes {len(inputs)} inputs; a classifier takes one")
    sizes = [
        int(each.dim_value) if each.dim_value > 0 else None
        for each in inputs[0].type.tensor_type.shape.dim
    ]
    if not sizes:
        raise ModelError("its input has no batch dimension")
    return inputs[0].name, sizes


def _output(model: Any, scores: str) -> str:
    """The requested or likeliest floating-point output.

    A label output (whole numbers) may come before it.
    """
    names = [
        str(output.name)
        for output in model.graph.output
        # ONNX's numbers for float, half and double.
        if output.type.tensor_type.elem_type in (1, 10, 11)
    ]
    if not names:
        raise ModelError(
            "it returns class numbers or objects, no table of scores; export it without its last"
            " ArgMax, or without ZipMap"
        )
    return pick_output(names, scores)


def _working_shape(box: Backend, guesses: Sequence[dict[str, object]]) -> tuple[int, ...]:
    for guess in guesses:
        shape = raw_shape(parse(guess, "input"))
        try:
            box(torch.full((2, *shape), 0.5, device=box.device))
        except OversizedModelError:
            raise
        except Exception:
            # This guess does not fit; the next is tried, and settle() reports if none does.
            continue
        return shape
    return ()


def _samples(shape: Sequence[int]) -> Iterator[Tensor]:
    generator = torch.Generator("cpu").manual_seed(0)
    # Several scales: a model may be made for [0, 1], for standardised values or for bytes.
    for scale in (1.0, 3.0, 255.0):
        yield torch.rand((3, *shape), generator=generator, device="cpu") * scale
    yield torch.randn((3, *shape), generator=generator, device="cpu")


def _difference(one: Backend, other: Backend, shape: Sequence[int]) -> float:
    """Largest difference of two models on random inputs, relative to the largest score."""
    worst = 0.0
    for x in _samples(shape):
        with torch.inference_mode():
            a, b = one(x).double(), other(x).double()
        if a.shape != b.shape:
            return math.inf
        # Both may overflow on inputs larger than they were made for.
        same = (a == b) | (a.isnan() & b.isnan())
        # Relative to the largest score: absolute errors grow with it. At least 1, for models near
        # 0.
        scale = a[a.isfinite()].abs().max().clamp_min(1.0) if bool(a.isfinite().any()) else 1.0
        gap = float(torch.where(same, 0.0, (a - b).abs() / scale).max())
        worst = max(worst, gap if math.isfinite(gap) else math.inf)
    return worst


def _free_batch(
    model: Any, output: str, box: Backend, shape: Sequence[int]
) -> tuple[Backend, Any, bool]:
    """The model with a free batch size if that changes no answer; otherwise unchanged."""
    changed = copy.deepcopy(model)
    stored = {each.name: each for each in changed.graph.initializer}
    for value in (*changed.graph.input, *changed.graph.output):
        if value.name not in stored and value.type.tensor_type.shape.dim:
            value.type.tensor_type.shape.dim[0].dim_param = "batch"
    # Inferred shapes contradict the new batch; onnxruntime infers them again.
    del changed.graph.value_info[:]
    _free_reshapes(changed, stored)
    try:
        free = OnnxBackend(changed.SerializeToString(), output, torch.device("cpu"))
        equal = _difference(box, free, shape) < _EQUAL
    except Exception:  # The change failed, which is no fault of the file: it stays as it was.
        equal = False
    if equal:
        return (free, changed, True)
    return (box, model, False)


def _free_reshapes(model: Any, stored: dict[str, Any]) -> None:
    """Turns a leading 1 in the targets of Reshape into 0, which means "as in the input"."""
    from onnx import numpy_helper

    constants = {
        node.output[0]: node.attribute[0].t
        for node in model.graph.node
        if node.op_type == "Constant" and node.attribute[0].name == "value"
    }
    for node in model.graph.node:
        if node.op_type == "Reshape" and len(node.input) > 1:
            target = {**stored, **constants}.get(node.input[1])
        else:
            target = None
        if target is None:
            continue
        sizes = np.array(numpy_helper.to_array(target))
        if sizes.ndim == 1 and len(sizes) > 1 and sizes[0] == 1:
            # 0 means "as in the input", which is right for a batch of 1 too.
            sizes[0] = 0
            target.CopyFrom(numpy_helper.from_array(sizes, target.name))


def _translate(
    model: Any, name: str, output: str, box: Backend, batch: int | None, shape: Sequence[int]
) -> tuple[Backend | None, str]:
    """The model in torch, or None and the reason."""
    try:
        white: Backend = TorchBackend(OnnxModule(model, name, output))
        if batch is not None:
            white = FixedBatch(white, batch)
        gap = _difference(box, white, shape)
    except UntranslatedError as error:
        return None, f"the ONNX operation {error} has no translation to torch"
    except Exception as error:  # Whatever fails here leaves the black box, and the reason is shown.
        return None, f"its translation to torch failed ({first_line(error)})"
    if gap >= _EQUAL:
        return None, f"its translation to torch differs from onnxruntime by {gap:.2g}"
    return white, f"translated to torch, equal to onnxruntime within {max(gap, 1e-9):.1e}"


def _messages(message: Any, kind: str) -> Iterator[Any]:
    """Every protobuf message of one kind, wherever it is nested.

    In bodies, functions, sparse constants, training steps.
    """
    stack = [message]
    while stack:
        part = stack.pop()
        if part.DESCRIPTOR.name == kind:
            yield part
        for field, value in part.ListFields():
            if field.message_type is not None:
                # A single message has a DESCRIPTOR, a repeated field has not.
                stack.extend([value] if hasattr(value, "DESCRIPTOR") else value)


def _refuse_foreign_files(folder: Path, model: Any) -> None:
    """External data must lie beside the model: an absolute path or ``..`` would read any file."""
    total = 0
    for tensor in _messages(model, "TensorProto"):
        # 1 is EXTERNAL.
        if tensor.data_location != 1:
            continue
        location = next((each.value for each in tensor.external_data if each.key == "location"), "")
        try:
            target = beside(folder, location)
        except OSError as error:
            raise ModelError(
                f"it names data outside its own folder ({location!r}) and is refused"
            ) from error
        if not is_file(target):
            raise ModelError(
                f"its data file {location!r} is missing; it belongs into the same folder"
            )
        total += _length(tensor, target)
        if total > _LARGEST:
            raise ModelError(
                f"its data beside it have more than {_LARGEST / 1e6:,.0f} MB; save it with smaller"
                " weights"
            )


def _length(tensor: Any, target: Path) -> int:
    """Bytes that a tensor takes from its file: the length it names, or the whole file."""
    named = next((each.value for each in tensor.external_data if each.key == "length"), "")
    size = target.stat().st_size
    if named.isdecimal() and int(named) > 0:
        # Never more than the file has: a length is only a claim.
        return min(int(named), size)
    return size


def _refuse_unread_files(model: Any) -> None:
    """Refuses weights still outside after loading.

    The runtime would read them from the current folder, unseen by the fingerprint.
    """
    if any(tensor.data_location == 1 for tensor in _messages(model, "TensorProto")):
        raise ModelError(
            "a constant of it stands in another file where only plain tensors may; it is refused"
        )
