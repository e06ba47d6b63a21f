"""What a file or folder can be: kinds, formats, and an Identity that says which."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

#: First line of a file that names two models to be examined as one.
PAIR_HEAD = b"# robgui: two models as one"
#: Endings, in small letters, of files that are pickles even if their first byte does not say so.
PICKLE_ENDINGS = (".pkl", ".pickle", ".joblib")


class Kind(StrEnum):
    """What the program does with a file."""

    MODEL = "model"
    DATA = "data"
    WORKSPACE = "workspace"
    MESH = "mesh"
    SUITE = "suite"
    EXPERIMENT = "experiment"
    UNKNOWN = "unknown"


class Format(StrEnum):
    """Formats of model files."""

    EXPORTED = "torch.export"
    SCRIPT = "TorchScript"
    TORCH = "torch weights"
    LEGACY = "torch weights (old format)"
    PICKLE = "Python pickle"
    SAFETENSORS = "safetensors"
    ONNX = "ONNX"
    SKOPS = "skops"
    FOLDER = "a folder with config.json"
    KERAS = "Keras"
    KERAS_HDF5 = "Keras (HDF5)"
    TFLITE = "TensorFlow Lite"
    PAIR = "two models as one"


class DataFormat(StrEnum):
    """Formats of data files."""

    PICTURE = "a picture"
    ARRAY = "a NumPy array"
    ARRAYS = "NumPy arrays"
    IDX = "an IDX file"
    JSON = "a JSON document"
    TABLE = "a table"
    FOLDER = "a folder"
    ZIP = "a zip archive of images"
    TAR = "a tar archive of images"
    CIFAR = "a file of CIFAR"
    PARQUET = "a Parquet table"
    ARROW = "an Arrow table"
    HDF5 = "an HDF5 file"
    MATLAB = "a MATLAB file"
    VIDEO = "a video"


@dataclass(frozen=True, slots=True)
class Identity:
    """What a path turned out to be.

    Attributes:
        kind: What the program does with it.
        words: What it is, as the rest of a sentence that begins "It is".
        model: The format of a model file; None for everything else.
        data: The format of data; None for everything else.
        remedy: What the user can do about a file that cannot be opened.
    """

    kind: Kind
    words: str
    model: Format | None = None
    data: DataFormat | None = None
    remedy: str = ""


def model(format_: Format) -> Identity:
    """The identity of a model file."""
    return Identity(Kind.MODEL, f"a model ({format_})", model=format_)


def data(format_: DataFormat) -> Identity:
    """The identity of data."""
    return Identity(Kind.DATA, str(format_), data=format_)


def foreign(words: str, remedy: str) -> Identity:
    """The identity of a file that cannot be opened, with what to do about it."""
    return Identity(Kind.UNKNOWN, words, remedy=remedy)


#: A file unlike anything the program knows.
NOTHING = foreign(
    "damaged or nothing this program knows",
    "choose a model, pictures, a table, an array or a workspace",
)
