"""Whether each part of a Keras network's description is known to be harmless.

Keras has its own safe mode, which has been found wanting before. A description is checked here
first, and what is not on the list needs trust.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

#: Layers that compute. Those that hold code (Lambda), other libraries' networks
#: (TorchModuleWrapper, JaxLayer, TFSMLayer) or the names of files (StringLookup) are not among
#: them.
_LAYERS = re.compile(
    r"Activation|ActivityRegularization|(Adaptive|Global)?(Average|Avg|Max)Pool(ing)?[123]D"
    r"|Add|Average|Concatenate|Dot|Maximum|Minimum|Multiply|Subtract"
    r"|(Additive|MultiHead|GroupQuery|GroupedQuery)?Attention"
    r"|(Alpha|Gaussian|Spatial[123]D)?Dropout|SpatialDropout[123]D|GaussianNoise"
    r"|(Batch|Group|Layer|RMS|Spectral|Unit)?Normalization|Bidirectional|TimeDistributed"
    r"|(Depthwise|Separable)?(Conv|Convolution)[123]D(Transpose)?|ConvLSTM[123]D"
    r"|(Center|Random)Crop|Cropping[123]D|ZeroPadding[123]D|UpSampling[123]D|Resizing|Rescaling"
    r"|Dense|EinsumDense|(Reversible)?Embedding|Flatten|Identity|InputLayer|Masking|Permute"
    r"|RepeatVector|Reshape|Softmax|ELU|(Leaky|P)?ReLU|CategoryEncoding|Discretization"
    r"|(GRU|LSTM|SimpleRNN)(Cell)?|RNN|StackedRNNCells|Pipeline|AugMix|AutoContrast|CutMix|MixUp"
    r"|Equalization|RandAugment|Random[A-Z]\w{1,40}|Solarization|MelSpectrogram|STFTSpectrogram"
)
#: Keras modules whose classes are small and plain, and those of a network itself.
_PLAIN = re.compile(r"keras\.(initializers|regularizers|constraints|dtype_policies)")
_NETWORKS = re.compile(r"keras(\.models|\.src\.models\.\w+|\.src\.engine\.\w+)?")
_NETWORK_NAMES = ("Sequential", "Functional", "Model", "DTypePolicy", "InputSpec")
#: Operations that Keras stores for ``a + b``; those of its module ``core`` take functions.
_OPERATIONS = re.compile(r"keras\.src\.ops\.(numpy|nn|math)")
#: Values, not classes.
_VALUES = ("__keras_tensor__", "__tensor__", "__numpy__", "__slice__", "__ellipsis__", "__bytes__")
_DEEPEST = 200


def foreign_parts(described: Any) -> list[str]:
    """The parts of a network's description that are not known to be harmless, by name."""
    found = (_name(part) for part in _parts(described, 0) if not _is_known(part))
    return sorted(set(found))


def without_training(described: Any) -> Any:
    """The description without optimisers, losses and metrics, which only training needs."""
    if isinstance(described, dict):
        return {
            name: without_training(value)
            for name, value in described.items()
            if name != "compile_config"
        }
    if isinstance(described, list):
        return [without_training(each) for each in described]
    return described


def _parts(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    """Every object that would be created, wherever it is nested."""
    if depth > _DEEPEST:
        yield {"class_name": "objects nested without end"}
        return
    if isinstance(value, dict):
        if "class_name" in value:
            yield value
        for inner in value.values():
            yield from _parts(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _parts(inner, depth + 1)


def _is_known(part: dict[str, Any]) -> bool:
    name, module = part["class_name"], part.get("module")
    registered = part.get("registered_name")
    if not isinstance(name, str) or registered not in (None, name, part.get("config")):
        return False
    if name in _VALUES:
        return True
    if not isinstance(module, str):
        return False
    if name == "function":  # An activation by name.
        given = part.get("config")
        plain = isinstance(given, str) and re.fullmatch(r"\w{1,40}", given) is not None
        return plain and module in ("keras.activations", "builtins")
    if module == "keras.layers":
        return _LAYERS.fullmatch(name) is not None
    if _NETWORKS.fullmatch(module):
        return name in _NETWORK_NAMES
    return bool(_PLAIN.fullmatch(module) or _OPERATIONS.fullmatch(module))


def _name(part: dict[str, Any]) -> str:
    return str(part.get("registered_name") or part["class_name"])[:60]
