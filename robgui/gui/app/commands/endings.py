"""Which files the program asks for, and what to do with those it does not open."""

from __future__ import annotations

from robgui.core.identify import Kind

MODEL_ENDINGS = (
    *(".pt2", ".pt", ".pth", ".th", ".ckpt", ".bin", ".safetensors", ".onnx", ".skops"),
    *(".keras", ".h5", ".hdf5", ".tflite", ".pair"),
)
MODELS = f"Models ({' '.join('*' + ending for ending in MODEL_ENDINGS)} config.json);;All files (*)"
# Also what has no ending: the files of MNIST (-ubyte), CIFAR-10 (_batch), CIFAR-100 (test, train).
DATA = (
    "Data (*.png *.jpg *.jpeg *.bmp *.tif *.tiff *.webp *.gif *.ppm *.npz *.npy *.csv *.json *.gz"
    " *-ubyte *.zip *.tar *.tgz *.bin *.parquet *.arrow *.feather *.h5 *.hdf5 *.mat *.mp4 *.avi"
    " *.mkv *.mov *.webm *_batch* test train);;All files (*)"
)

#: Advice for files that are known but not opened by themselves.
NOT_OPENED = {
    Kind.UNKNOWN: "choose a model, data or a workspace",
    Kind.MESH: "name it as the scene of a semantic analysis",
    Kind.SUITE: "run it with New batch in the File menu",
}
