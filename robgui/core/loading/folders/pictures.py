"""How a model folder says pictures become inputs, as fields of ModelSettings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

Values = dict[str, object]

#: Numbers of Pillow's resampling filters, and timm's names for them.
_RESAMPLE = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "area"}
_NAMES = ("nearest", "lanczos", "bilinear", "bicubic")
#: LeViT's processor scales to more than the size it names.
_LEVIT = 256 / 224
#: From this size on, ConvNeXt's processor squashes pictures instead of cropping them.
_CONVNEXT_WHOLE = 384


def hugging_face_settings(
    described: Mapping[str, Any], processor: Mapping[str, Any]
) -> tuple[Values, list[str]]:
    """What config.json and preprocessor_config.json say, with remarks for people."""
    told: Values = {**_names(described)}
    if described.get("problem_type") == "multi_label_classification":
        told["multi_label"] = True
    channels = _whole(described.get("num_channels")) or 3
    size, framing, remarks = _framing(processor)
    side = size or _pair(described.get("image_size"))
    if side is not None:
        told["shape"] = (channels, *side)
    if not processor:
        return told, [
            *remarks,
            "it says nothing of its preprocessing (no preprocessor_config.json)",
        ]
    told |= {**framing, **_range(processor)}
    if processor.get("do_flip_channel_order"):
        told["channels"] = "bgr"
    return told, [*remarks, "its preprocessing is taken from preprocessor_config.json"]


def timm_settings(described: Mapping[str, Any]) -> Values:
    """What timm's description of a model, or of one of its networks, says about pictures."""
    told: Values = {}
    shape = described.get("input_size")
    if isinstance(shape, list | tuple) and len(shape) == 3 and all(map(_whole, shape)):
        told["shape"] = tuple(map(int, shape))
    for name in ("mean", "std"):
        if numbers := _numbers(described.get(name)):
            told[name] = numbers
    if described.get("interpolation") in _NAMES:
        told["interpolation"] = described["interpolation"]
    ways = {"center": "crop", "squash": "squash-crop", "border": "letterbox"}
    told["resize"] = ways.get(str(described.get("crop_mode", "center")), "crop")
    share = described.get("crop_pct")
    if told["resize"] != "letterbox" and isinstance(share, int | float) and 0.1 <= share <= 1:
        told["crop"] = float(share)
    if told["resize"] == "squash-crop" and told.get("crop", 1.0) == 1:
        told["resize"] = "squash"
    return told


def share_of(kept: int, scaled: int) -> float:
    """``kept / scaled`` as a share that gives exactly ``scaled`` whole pixels when divided by."""
    share = kept / scaled
    if math.floor(kept / share) == scaled:
        return share
    # Rounding has left ``kept / share`` just below, and floor would cut it to one pixel less.
    return kept / (scaled + 1e-6)


def _names(described: Mapping[str, Any]) -> Values:
    """The class names, unless they are just numbered."""
    names = described.get("id2label")
    if not isinstance(names, dict) or not names:
        return {}
    try:
        labels = tuple(str(names[str(number)]) for number in range(len(names)))
    except KeyError:
        return {}
    # What transformers writes for unnamed classes.
    numbered = all(label == f"LABEL_{number}" for number, label in enumerate(labels))
    if numbered:
        return {}
    return {"labels": labels}


def _framing(processor: Mapping[str, Any]) -> tuple[tuple[int, int] | None, Values, list[str]]:
    """The model's size, how pictures are brought to it, and what cannot be matched."""
    filter_ = processor.get("resample", 2)
    told: Values = {"interpolation": "bilinear"}
    if isinstance(filter_, int):
        told["interpolation"] = _RESAMPLE.get(filter_, "bilinear")
    shorter, exact = _sizes(processor)
    if processor.get("do_center_crop"):
        kept = _pair(processor.get("crop_size"))
    else:
        kept = None
    if not processor.get("do_resize", True):
        return kept, {}, []
    if kept is not None and shorter:
        if _is(processor, "Levit"):
            scaled = math.floor(_LEVIT * shorter)
        else:
            scaled = shorter
        if scaled < min(kept):
            note = "its processor adds a black rim to pictures; here they are scaled instead"
            return kept, {**told, "resize": "crop"}, [note]
        return kept, {**told, "resize": "crop", "crop": share_of(min(kept), scaled)}, []
    if kept is not None and exact is not None and exact != kept:
        return kept, {**told, **_squash_crop(kept, exact)}, _unlike(kept, exact)
    if shorter and kept is None:
        return (shorter, shorter), {**told, **_convnext(processor, shorter)}, []
    return kept or exact, {**told, "resize": "squash"} if kept or exact else {}, []


def _squash_crop(kept: tuple[int, int], exact: tuple[int, int]) -> Values:
    """Height and width on their own, then the middle, as DeiT and BEiT do."""
    share = share_of(min(kept), min(exact))
    if share < 1:
        return {"resize": "squash-crop", "crop": share}
    return {"resize": "squash"}


def _unlike(kept: tuple[int, int], exact: tuple[int, int]) -> list[str]:
    """What one share for both sides cannot express."""
    if min(exact) < min(kept):
        return ["its processor adds a black rim to pictures; here they are scaled instead"]
    if kept[0] * exact[1] != kept[1] * exact[0]:
        words = "x".join(map(str, exact))
        return [f"its processor scales to {words}; here both sides are cut by the same share"]
    return []


def _convnext(processor: Mapping[str, Any], shorter: int) -> Values:
    """A shorter side without a crop: the square in the middle, or what ConvNeXt does."""
    share = processor.get("crop_pct")
    if not isinstance(share, int | float) or not 0.1 <= share <= 1:
        return {"resize": "crop"}
    if shorter >= _CONVNEXT_WHOLE:
        return {"resize": "squash"}
    return {"resize": "crop", "crop": share_of(shorter, int(shorter / share))}


def _sizes(processor: Mapping[str, Any]) -> tuple[int, tuple[int, int] | None]:
    """The shorter side, or height and width, that pictures are scaled to."""
    size = processor.get("size")
    if isinstance(size, dict):
        return _whole(size.get("shortest_edge")), _pair(size)
    if processor.get("do_center_crop") or "crop_pct" in processor:
        return _whole(size), None
    return 0, _pair(size)


def _range(processor: Mapping[str, Any]) -> Values:
    """What 0 and 1 become before mean and std, and those."""
    factor = processor.get("rescale_factor", 1 / 255)
    top = 255.0
    if processor.get("do_rescale", True) and isinstance(factor, int | float):
        top = 255.0 * factor
    # 1/255 as a decimal fraction, times 255, misses 1 in the last digits.
    if math.isclose(top, 1.0, rel_tol=1e-6):
        top = 1.0
    # EfficientNet's processor, among others, subtracts 1 after rescaling.
    if processor.get("rescale_offset") or processor.get("offset"):
        below = 1.0
    else:
        below = 0.0
    told: Values = {"low": (0.0 - below,), "high": (top - below,)}
    if processor.get("do_normalize", not _is(processor, "MobileViT")):
        for name, field in (("image_mean", "mean"), ("image_std", "std")):
            if numbers := _numbers(processor.get(name)):
                told[field] = numbers
    return told


def _is(processor: Mapping[str, Any], name: str) -> bool:
    kind = processor.get("image_processor_type") or processor.get("feature_extractor_type") or ""
    return str(kind).startswith(name)


def _pair(value: object) -> tuple[int, int] | None:
    """Height and width of a size that is one number, two, or a document."""
    match value:
        case {"height": height, "width": width}:
            sides: Sequence[object] = (height, width)
        case [height, width]:
            sides = (height, width)
        case _:
            sides = (value, value)
    whole = [_whole(side) for side in sides]
    if all(whole):
        return (whole[0], whole[1])
    return None


def _whole(value: object) -> int:
    """A positive whole number; 0 for anything else."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    return 0


def _numbers(value: object) -> tuple[float, ...]:
    if not isinstance(value, list | tuple) or not value:
        return ()
    if all(isinstance(each, int | float) for each in value):
        return tuple(map(float, value))
    return ()
