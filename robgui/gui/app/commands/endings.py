"""Which files the program asks for, and what to do with those it does not open."""

from __future__ import annotations

from robgui.core.identify import Kind
from robgui.core.identify.formats import PICKLE_ENDINGS

MODEL_ENDINGS = (
    *(".pt2", ".pt", ".pth", ".th", ".ckpt", ".bin", ".safetensors", ".onnx", ".skops"),
    *(".keras", ".h5", ".hdf5", ".tflite", ".pair", *PICKLE_ENDINGS),
)
MODELS = f"Models ({' '.join('*' + ending for ending in MODEL_ENDINGS)} config.json);;All files (*)"
#: Names of data files whose ending says nothing: packed ones, IDX files, CIFAR's batches.
_OTHER_NAMES = "*.gz *-ubyte *.bin *_batch* test train"
#: Advice for files that are known but not opened by themselves.
NOT_OPENED = {
    Kind.UNKNOWN: "choose a model, data or a workspace",
    Kind.MESH: "name it as the scene of a semantic analysis",
    Kind.SUITE: "run it with New batch in the File menu",
}


def data_names() -> str:
    """The files that “Open data” offers, as Qt's dialog takes them."""
    # Imported when asked for: the readers bring OpenCV along, and the window starts without it.
    from robgui.core.dataset.opening import SUFFIXES

    endings = " ".join(f"*{ending}" for ending in sorted(SUFFIXES))
    return f"Data ({endings} {_OTHER_NAMES});;All files (*)"
