"""``.pt2`` files of torch.export, read without torch's own reader.

That reader unpickles parts of the file, evaluates shape expressions with ``sympify`` (which is
``eval``) and generates Python source from the graph's names. Here only the graph's JSON and the
plain bytes of the weights are read. Torch loads a file that needs more, and only if the user trusts
it.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from robgui.core.errors import ModelError, TrustError
from robgui.core.loading.archive import Archive
from robgui.core.loading.detect import guesses_from_input
from robgui.core.loading.exported.graph import DTYPES, ExportedGraph, Json
from robgui.core.loading.fixed_batch import FixedBatch
from robgui.core.loading.raw import TRUST, Raw, reading, which_output
from robgui.core.model.backend import (
    Backend,
    Capabilities,
    Reduce,
    TorchBackend,
    as_output,
    pick_output,
)

#: Most inputs, and numbers in them, that a file may ask for at once.
_LARGEST_BATCH, _LARGEST_INPUTS = 4096, 2**26
#: Largest document; real graphs have a few megabytes.
_LARGEST_JSON = 32 * 2**20


class ExportedBackend(TorchBackend):
    """An exported graph whose layers can be watched while it runs."""

    def __init__(self, graph: ExportedGraph, dtype: torch.dtype) -> None:
        super().__init__(graph)
        self._graph = graph
        self._dtype = dtype
        if graph.layers:
            reason = ""
        else:
            reason = "its graph has no convolution and no linear layer"
        self.capabilities = Capabilities(
            gradients=True, activations=bool(graph.layers), reason=reason
        )

    def __call__(self, x: Tensor) -> Tensor:
        return as_output(self._graph(x.to(self._dtype)))

    def outputs(self, x: Tensor) -> tuple[str, ...]:
        """Empty: the graph ends at the output chosen while it was read."""
        return ()

    def activations(self, x: Tensor, reduce: Reduce) -> tuple[Tensor, dict[str, Tensor]]:
        raw, seen = self._graph.run(x.to(self._dtype), reduce)
        return as_output(raw), seen


def load_exported(path: Path, trust: bool, scores: str = "") -> Raw:
    """Reads an exported program; ``scores`` says which of its outputs is meant."""
    try:
        with reading(path, "an exported program (.pt2)"), Archive(path) as archive:
            # Every member is read once and compared with its checksum: a damaged file is then
            # reported as damaged, not as a wrong graph.
            archive.verify()
            return _read(archive, scores)
    # TrustError here means "not known to be harmless": with the user's word, torch's own reader may
    # try.
    except TrustError as error:
        if not trust:
            raise TrustError(f"{path} is not loaded: {error}.") from error
        return _trusted(path, scores)
    except ModelError as error:
        raise error if str(path) in str(error) else ModelError(f"{path}: {error}.") from error


def _read(archive: Archive, scores: str) -> Raw:
    if "models/model.json" not in archive.names:
        raise TrustError(
            f"it is in the format of an old torch, which is a pickle; export it again, or {TRUST}"
        )
    module = _document(archive, "models/model.json")["graph_module"]
    specs = module["signature"]["input_specs"]
    owners = _owners(specs)
    # Weights and constants use the same layout, in two folders.
    stored = {**_tensors(archive, "weights"), **_tensors(archive, "constants")}
    weights = {name: stored[owner] for name, owner in owners.items()}
    name, sizes, dtype = _user_input(module["graph"], specs)
    outputs = [
        spec["user_output"]["arg"]
        for spec in module["signature"]["output_specs"]
        if "user_output" in spec
    ]
    names = _output_names(module, outputs)
    taken = pick_output(tuple(names), scores)
    graph = ExportedGraph(module["graph"], weights, owners, name, names[taken], _learned(specs))
    backend: Backend = ExportedBackend(graph, dtype)
    remarks = []
    batch = sizes[0].get("as_int")
    if batch is not None:
        _check_batch(int(batch), [_size(each) for each in sizes[1:]])
        backend = FixedBatch(backend, int(batch))
        remarks.append(f"exported for batches of {batch}; other sizes are cut and filled up")
    if graph.training_mode:
        remarks.append("exported in training mode; dropout and batch statistics are switched off")
    if len(outputs) > 1:
        remarks.append(which_output(taken, len(outputs)))
    return Raw(
        backend,
        remarks=tuple(remarks),
        guesses=guesses_from_input(tuple(_size(each) for each in sizes[1:])),
    )


def _check_batch(batch: int, sizes: list[int | None]) -> None:
    if (
        not 1 <= batch <= _LARGEST_BATCH
        or batch * math.prod(size or 1 for size in sizes) > _LARGEST_INPUTS
    ):
        raise ModelError(
            f"it takes batches of exactly {batch:,} inputs, which is refused; export it with a free"
            " batch"
        )


def _document(archive: Archive, name: str) -> Json:
    """A JSON document in the file; its Python objects take twenty times its size."""
    if archive.size(name) > _LARGEST_JSON:
        raise ModelError(
            f"its part {name!r} is longer than {_LARGEST_JSON >> 20} MB and is refused"
        )
    document: Json = json.loads(archive.read(name))
    return document


def _owners(specs: list[Json]) -> dict[str, str]:
    """Name in the graph -> name of the stored tensor, for parameters, buffers and constants."""
    owners = {}
    for spec in specs:
        ((kind, value),) = spec.items()
        if kind in ("parameter", "buffer", "tensor_constant"):
            owners[value["arg"]["name"]] = value[f"{kind}_name"]
        elif kind in ("custom_obj", "token"):
            raise TrustError(f"it holds objects that are no tensors; {TRUST}")
    return owners


def _learned(specs: list[Json]) -> set[str]:
    return {str(spec["parameter"]["arg"]["name"]) for spec in specs if "parameter" in spec}


def _tensors(archive: Archive, folder: str) -> dict[str, Tensor]:
    config = f"data/{folder}/model_{folder}_config.json"
    if config not in archive.names:
        raise TrustError(f"its {folder} are pickled; export it again, or {TRUST}")
    found: dict[str, Tensor] = {}
    files: dict[str, Tensor] = {}
    for name, entry in _document(archive, config)["config"].items():
        if entry["use_pickle"] or entry["tensor_meta"] is None:
            raise TrustError(f"its part {name!r} is pickled; {TRUST}")
        found[name] = _tensor(
            archive, f"data/{folder}/{entry['path_name']}", entry["tensor_meta"], files
        )
    return found


def _tensor(archive: Archive, member: str, meta: Json, files: dict[str, Tensor]) -> Tensor:
    sizes, strides = (
        [int(each["as_int"]) for each in meta["sizes"]],
        [int(each["as_int"]) for each in meta["strides"]],
    )
    dtype = DTYPES[meta["dtype"]]
    # Several tensors may share one file (tied weights): it is read once and they share its memory.
    if member not in files:
        data = archive.read(member)
        if data:
            # A bytearray: torch warns about read-only memory.
            files[member] = torch.frombuffer(bytearray(data), dtype=dtype)
        else:
            files[member] = torch.empty(0, dtype=dtype, device="cpu")
    flat = files[member]
    # A stride of 0 would let a few bytes stand for a tensor of any size.
    # Up to 4,096 numbers that is harmless.
    if math.prod(sizes) > max(len(flat), 4096) or flat.dtype != dtype:
        raise ModelError(f"its part {member!r} does not hold the tensor it declares")
    # Torch refuses strides and offsets that lead out of this memory.
    return torch.as_strided(flat, sizes, strides, int(meta["storage_offset"]["as_int"]))


def _user_input(graph: Json, specs: list[Json]) -> tuple[str, list[Json], torch.dtype]:
    arguments = [spec["user_input"]["arg"] for spec in specs if "user_input" in spec]
    names = [argument["as_tensor"]["name"] for argument in arguments if "as_tensor" in argument]
    if len(names) != 1:
        raise ModelError(f"it takes {len(names)} inputs; a classifier takes one")
    meta = graph["tensor_values"][names[0]]
    dtype = DTYPES[meta["dtype"]]
    if not dtype.is_floating_point:
        raise ModelError(
            f"it takes whole numbers ({dtype}), not images, tables or sequences of measurements"
        )
    if not meta["sizes"]:
        raise ModelError("its input has no batch dimension")
    return names[0], meta["sizes"], dtype


def _output_names(module: Json, outputs: list[Json]) -> dict[str, str]:
    """Tensor outputs: the model's name for each (its key or number) -> its name in the graph."""
    keys = _keys(module, len(outputs))
    found = {
        key: str(output["as_tensor"]["name"])
        for key, output in zip(keys, outputs, strict=True)
        if "as_tensor" in output
    }
    if not found:
        raise ModelError("it returns no tensor")
    return found


def _keys(module: Json, count: int) -> list[str]:
    """The keys of an answer that is a dict, if the file tells them; else numbers."""
    numbers = [str(number) for number in range(count)]
    try:
        # The output structure is a JSON text inside the JSON: version, then the tree.
        shape = json.loads(module["module_call_graph"][0]["signature"]["out_spec"])[1]
        if shape["type"] == "builtins.dict":
            keys = json.loads(shape["context"])
        else:
            keys = numbers
    except (LookupError, TypeError, ValueError):
        # The spec is optional in the file: without it outputs have only numbers.
        return numbers
    if isinstance(keys, list) and len(set(map(str, keys))) == count:
        return [str(key) for key in keys]
    return numbers


def _size(size: Json) -> int | None:
    """A fixed size, or the one used at export if any is allowed."""
    if "as_int" in size:
        return int(size["as_int"])
    hint = size["as_expr"].get("hint")
    if hint:
        return int(hint["as_int"])
    return None


def _trusted(path: Path, scores: str) -> Raw:
    with reading(path, "an exported program (.pt2)"):
        program: Any = torch.export.load(path)
        module: nn.Module = program.module()
    if program.example_inputs:
        inputs = [value for value in program.example_inputs[0] if isinstance(value, Tensor)]
    else:
        inputs = []
    if inputs:
        guesses = guesses_from_input(tuple(inputs[0].shape[1:]))
    else:
        guesses = ()
    backend = _OpaqueBackend(module)
    backend.scores = scores
    return Raw(backend, guesses=guesses, remarks=("read by torch itself because you trust it",))


class _OpaqueBackend(TorchBackend):
    """An exported program rebuilt by torch: it refuses ``eval`` and shows no layers."""

    def __init__(self, module: nn.Module) -> None:
        # An exported module raises in ``eval``, and is already in the mode it was exported in.
        module.eval = lambda: module  # type: ignore[method-assign]
        super().__init__(module, layers=())
        self.capabilities = Capabilities(
            gradients=True,
            activations=False,
            reason="its graph holds operations that can only be run as a whole",
        )
