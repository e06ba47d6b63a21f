"""Draws street scenes with a red light, a green light or none; the same seed draws the same scenes.

A scene is drawn at twice its size, shrunk, lit, blurred and given a little camera noise. Every
class has the same backgrounds and the same distractors (tail lights, signs, shop fronts, trees,
lamps, unlit or amber signals), so that colour alone does not tell the class: the light has to be
found.
"""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

#: In the order of the class folders, which is alphabetical.
CLASSES = ("green", "none", "red")
SIZE = 112
_SCALE = 2
#: Channel values are multiples of this: a PNG of 64 levels is a third smaller than one of 256.
_STEP = 4

Colour = tuple[int, int, int]
RED: Colour = (250, 45, 30)
AMBER: Colour = (255, 170, 30)
GREEN: Colour = (40, 235, 130)


def scenes(per_class: int, seed: int) -> tuple[list[Image.Image], np.ndarray]:
    """``per_class`` images of each class and their labels ``(n,)``, classes in turn."""
    labels = np.tile(np.arange(len(CLASSES)), per_class)
    return [
        scene(CLASSES[label], np.random.default_rng((seed, index)))
        for index, label in enumerate(labels)
    ], labels


def scene(kind: str, rng: np.random.Generator) -> Image.Image:
    """One RGB image, ``SIZE`` x ``SIZE``, of the class ``kind``."""
    canvas = _background(rng)
    draw = ImageDraw.Draw(canvas)
    _street(draw, rng)
    for distractor in rng.choice(np.array([_car, _tree, _sign, _shop, _lamps]), rng.integers(1, 5)):
        distractor(draw, rng)
    if kind != "none":
        canvas = _signal(canvas, rng, RED if kind == "red" else GREEN, 0 if kind == "red" else 2)
    elif rng.random() < 0.35:
        canvas = _signal(canvas, rng, AMBER, 1 if rng.random() < 0.5 else None)
    if rng.random() < 0.3:
        _branch(ImageDraw.Draw(canvas), rng)
    return _photograph(canvas, rng)


def _background(rng: np.random.Generator) -> Image.Image:
    """A sky of day, haze, dusk or night."""
    tops = np.array([(90, 150, 225), (175, 185, 195), (70, 60, 110), (12, 14, 30)])
    bottoms = np.array([(200, 222, 240), (215, 215, 210), (240, 150, 90), (45, 45, 65)])
    kind = rng.choice(4, p=[0.4, 0.25, 0.2, 0.15])
    side = SIZE * _SCALE
    blend = np.linspace(0, 1, side)[:, None, None]
    sky = tops[kind] * (1 - blend) + bottoms[kind] * blend + rng.normal(0, 10, 3)
    return Image.fromarray(np.broadcast_to(sky, (side, side, 3)).clip(0, 255).astype(np.uint8))


def _street(draw: ImageDraw.ImageDraw, rng: np.random.Generator) -> None:
    """Houses with windows along the horizon, then ground and road."""
    side = SIZE * _SCALE
    horizon = int(side * rng.uniform(0.5, 0.8))
    left = -int(rng.integers(0, 30))
    while left < side:
        width, height = int(rng.integers(25, 70)), int(rng.integers(10, 110))
        if rng.random() < 0.75:
            _house(draw, rng, (left, horizon - height, left + width, horizon))
        left += width + int(rng.integers(0, 25))
    ground = _grey(rng, 60, 130) if rng.random() < 0.5 else _jitter(rng, (85, 120, 60), 20)
    draw.rectangle((0, horizon, side, side), fill=ground)
    middle = int(rng.uniform(0.2, 0.8) * side)
    reach = int(rng.uniform(0.4, 0.9) * side)
    draw.polygon(
        [
            (middle - 6, horizon),
            (middle + 6, horizon),
            (middle + reach, side),
            (middle - reach, side),
        ],
        fill=_grey(rng, 45, 95),
    )
    if rng.random() < 0.6:
        draw.line(
            [(middle, horizon), (middle + int(rng.integers(-40, 40)), side)],
            fill=(215, 215, 205),
            width=3,
        )


def _house(
    draw: ImageDraw.ImageDraw, rng: np.random.Generator, box: tuple[int, int, int, int]
) -> None:
    wall = _jitter(
        rng, ((150, 140, 130), (120, 80, 70), (95, 100, 110), (190, 180, 160))[rng.integers(4)], 25
    )
    draw.rectangle(box, fill=wall)
    glass = _jitter(rng, (225, 205, 140) if rng.random() < 0.4 else (70, 85, 105), 20)
    gap = int(rng.integers(9, 16))
    for x in range(box[0] + 5, box[2] - 6, gap):
        for y in range(box[1] + 5, box[3] - 8, gap):
            if rng.random() < 0.8:
                draw.rectangle((x, y, x + gap // 2, y + gap // 2 + 1), fill=glass)


def _car(draw: ImageDraw.ImageDraw, rng: np.random.Generator) -> None:
    """A car from behind with two tail lights, sometimes braking, sometimes a red or green car."""
    side = SIZE * _SCALE
    width = int(rng.integers(24, 76))
    x, y = int(rng.integers(-10, side - width + 10)), int(side * rng.uniform(0.6, 0.9))
    height = width // 2
    paints = (
        (40, 40, 45),
        (200, 200, 205),
        (150, 30, 30),
        (40, 70, 140),
        (30, 100, 60),
        (110, 110, 115),
    )
    paint = _jitter(rng, paints[rng.integers(6)], 15)
    draw.rounded_rectangle(
        (x + width // 6, y - height // 2, x + width * 5 // 6, y + height // 2),
        width // 8,
        fill=paint,
    )
    draw.rectangle((x + width // 4, y - height // 3, x + width * 3 // 4, y), fill=(50, 60, 75))
    draw.rounded_rectangle((x, y, x + width, y + height // 2), width // 10, fill=paint)
    for wheel in (x + width // 8, x + width * 5 // 8):
        draw.rectangle(
            (wheel, y + height // 2, wheel + width // 4, y + height * 2 // 3), fill=(20, 20, 22)
        )
    light, radius = (RED if rng.random() < 0.6 else (140, 20, 25)), max(2, width // 11)
    for middle in (x + radius + 1, x + width - radius - 1):
        draw.ellipse(
            (middle - radius, y + height // 5 - radius, middle + radius, y + height // 5 + radius),
            fill=light,
        )


def _tree(draw: ImageDraw.ImageDraw, rng: np.random.Generator) -> None:
    side = SIZE * _SCALE
    x, foot, crown = (
        int(rng.integers(0, side)),
        int(side * rng.uniform(0.6, 0.9)),
        int(rng.integers(18, 50)),
    )
    top = foot - int(crown * rng.uniform(1.2, 2.4))
    draw.rectangle((x - 3, top, x + 3, foot), fill=_jitter(rng, (85, 60, 40), 12))
    leaf = ((45, 120, 50), (70, 150, 60), (30, 85, 45), (180, 90, 40))[rng.integers(4)]
    for _ in range(9):
        dx, dy = rng.normal(0, crown / 3, 2)
        radius = crown * rng.uniform(0.25, 0.55)
        draw.ellipse(
            (x + dx - radius, top + dy - radius, x + dx + radius, top + dy + radius),
            fill=_jitter(rng, leaf, 18),
        )


def _sign(draw: ImageDraw.ImageDraw, rng: np.random.Generator) -> None:
    """A round or square sign on a pole, red, green or blue, with or without a white rim."""
    side = SIZE * _SCALE
    x, y, radius = (
        int(rng.integers(10, side - 10)),
        int(side * rng.uniform(0.2, 0.7)),
        int(rng.integers(5, 17)),
    )
    draw.rectangle((x - 1, y, x + 1, y + radius * 5), fill=(120, 120, 125))
    paint = _jitter(
        rng, ((215, 35, 35), (25, 160, 85), (40, 85, 190))[rng.choice(3, p=[0.45, 0.35, 0.2])], 20
    )
    box = (x - radius, y - radius, x + radius, y + radius)
    shape = draw.ellipse if rng.random() < 0.6 else draw.rectangle
    shape(
        box,
        fill=paint,
        outline=(240, 240, 240) if rng.random() < 0.6 else None,
        width=max(1, radius // 4),
    )
    if rng.random() < 0.5:
        draw.rectangle(
            (x - radius // 2, y - radius // 6, x + radius // 2, y + radius // 6),
            fill=(240, 240, 240),
        )


def _shop(draw: ImageDraw.ImageDraw, rng: np.random.Generator) -> None:
    """A shop front: a bright board on a dark band, or a row of small bright letters."""
    side = SIZE * _SCALE
    width, height = int(rng.integers(30, 80)), int(rng.integers(8, 18))
    x, y = int(rng.integers(0, side - width)), int(side * rng.uniform(0.35, 0.7))
    paint = _jitter(rng, (RED, GREEN, (250, 220, 90), (90, 150, 250))[rng.integers(4)], 25)
    if rng.random() < 0.5:
        draw.rectangle((x, y, x + width, y + height), fill=paint)
        return
    draw.rectangle((x, y, x + width, y + height), fill=_grey(rng, 15, 50))
    step = max(6, height // 2 + 2)
    for left in range(x + 3, x + width - step, step):
        draw.rectangle((left, y + 3, left + step - 4, y + height - 3), fill=paint)


def _lamps(draw: ImageDraw.ImageDraw, rng: np.random.Generator) -> None:
    """A row of street lamps: small bright discs on poles."""
    side = SIZE * _SCALE
    y, glow = int(side * rng.uniform(0.15, 0.5)), _jitter(rng, (255, 235, 180), 20)
    for x in rng.integers(5, side - 5, rng.integers(1, 4)):
        draw.line((x, y, x, y + 90), fill=(75, 75, 80), width=2)
        radius = int(rng.integers(3, 7))
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=glow)


def _branch(draw: ImageDraw.ImageDraw, rng: np.random.Generator) -> None:
    """Thin twigs or a cable across the picture, before everything else."""
    side = SIZE * _SCALE
    for _ in range(rng.integers(1, 4)):
        ends = [(-5, int(rng.integers(0, side))), (side + 5, int(rng.integers(0, side)))]
        draw.line(ends, fill=_grey(rng, 20, 60), width=int(rng.integers(1, 4)))


def _signal(
    canvas: Image.Image, rng: np.random.Generator, light: Colour, lit: int | None
) -> Image.Image:
    """A traffic light whose lamp ``lit`` shines in ``light``: 0 red, 1 amber, 2 green, or None."""
    side = SIZE * _SCALE
    radius = int(np.exp(rng.uniform(np.log(5), np.log(15))))
    pitch, upright = int(radius * 2.5), rng.random() < 0.85
    width, height = (
        (radius * 3, pitch * 3 + radius) if upright else (pitch * 3 + radius, radius * 3)
    )
    x = int(rng.integers(4, side - width - 4))
    y = int(rng.integers(4, max(5, int(side * 0.75) - height)))
    housing = _jitter(
        rng, ((28, 28, 30), (28, 28, 30), (40, 55, 45), (190, 150, 40))[rng.integers(4)], 8
    )
    draw = ImageDraw.Draw(canvas)
    _pole(draw, rng, x + width // 2, y + height // 2)
    if rng.random() < 0.3:
        draw.rounded_rectangle(
            (x - radius, y - radius, x + width + radius, y + height + radius),
            radius,
            fill=(18, 18, 20),
            outline=(225, 225, 225),
        )
    draw.rounded_rectangle((x, y, x + width, y + height), radius, fill=housing)
    centres = [_lamp_centre(x, y, radius, pitch, place, upright) for place in range(3)]
    for (cx, cy), glass in zip(centres, ((70, 22, 22), (72, 55, 20), (18, 58, 42)), strict=True):
        draw.ellipse((cx - radius, cy - radius, cx + radius, cy + radius), fill=glass)
    return canvas if lit is None else _shine(canvas, rng, centres[lit], radius, light)


def _lamp_centre(
    x: int, y: int, radius: int, pitch: int, place: int, upright: bool
) -> tuple[int, int]:
    across, along = radius * 3 // 2, radius // 2 + pitch // 2 + place * pitch
    return (x + across, y + along) if upright else (x + along, y + across)


def _pole(draw: ImageDraw.ImageDraw, rng: np.random.Generator, x: int, y: int) -> None:
    """The signal stands on a pole or hangs on an arm from the left or the right."""
    side, paint = SIZE * _SCALE, _grey(rng, 50, 110)
    boxes = ((x - 2, y, x + 2, side), (x, y - 2, side, y + 2), (0, y - 2, x, y + 2))
    draw.rectangle(boxes[rng.choice(3, p=[0.6, 0.2, 0.2])], fill=paint)


def _shine(
    canvas: Image.Image,
    rng: np.random.Generator,
    centre: tuple[int, int],
    radius: int,
    light: Colour,
) -> Image.Image:
    """Lights one lamp and adds its halo."""
    cx, cy = centre
    colour = _jitter(rng, light, 18)
    halo = Image.new("RGB", canvas.size)
    spread = radius * rng.uniform(1.2, 2.0)
    ImageDraw.Draw(halo).ellipse((cx - spread, cy - spread, cx + spread, cy + spread), fill=colour)
    glow = np.asarray(
        halo.filter(ImageFilter.GaussianBlur(radius * 0.9)), dtype=np.float32
    ) * rng.uniform(0.15, 0.6)
    lit = Image.fromarray(
        (np.asarray(canvas, dtype=np.float32) + glow).clip(0, 255).astype(np.uint8)
    )
    draw = ImageDraw.Draw(lit)
    draw.ellipse((cx - radius, cy - radius, cx + radius, cy + radius), fill=colour)
    core = radius * 0.4
    centre_colour = tuple(int(0.7 * c + 0.3 * 255) for c in colour)
    draw.ellipse((cx - core, cy - core, cx + core, cy + core), fill=centre_colour)
    return lit


def _photograph(canvas: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Exposure, colour cast, blur, noise; then 64 levels a channel for small files."""
    small = canvas.resize((SIZE, SIZE), Image.Resampling.BOX).filter(
        ImageFilter.GaussianBlur(rng.uniform(0, 1.1))
    )
    values = np.asarray(small, dtype=np.float32) / 255
    values = (
        values ** rng.uniform(0.75, 1.35) * rng.uniform(0.65, 1.15) * rng.uniform(0.92, 1.08, 3)
    )
    values = values + rng.normal(0, rng.uniform(0, 0.015), values.shape)
    steps = (values.clip(0, 1) * (255 / _STEP)).round() * _STEP
    return Image.fromarray(steps.clip(0, 255).astype(np.uint8))


def _grey(rng: np.random.Generator, low: int, high: int) -> Colour:
    level = int(rng.integers(low, high))
    return (level, level, level)


def _jitter(rng: np.random.Generator, colour: Colour, spread: float) -> Colour:
    red, green, blue = (int(v) for v in (np.array(colour) + rng.normal(0, spread, 3)).clip(0, 255))
    return (red, green, blue)
