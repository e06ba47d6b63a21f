"""Traffic signs as a person has them: PPM photos of mixed sizes in the folders "00" … "42", their
names in a CSV file, and a small network that was trained on such signs.

``python -m tests.e2e.signs FOLDER`` makes them.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageFilter, ImageFont
from torch import nn

NAMES = (
    *(f"Speed limit {limit}" for limit in (20, 30, 50, 60, 70, 80)),
    "End of speed limit 80",
    *("Speed limit 100", "Speed limit 120", "No passing", "No passing for lorries"),
    *("Right of way at next crossing", "Priority road", "Give way", "Stop", "No vehicles"),
    *("No lorries", "No entry", "General caution", "Dangerous curve left"),
    *("Dangerous curve right", "Double curve", "Bumpy road", "Slippery road"),
    *("Road narrows on the right", "Road works", "Traffic signals", "Pedestrians"),
    *("Children crossing", "Bicycles crossing", "Ice or snow", "Wild animals"),
    *("End of all limits", "Turn right ahead", "Turn left ahead", "Ahead only"),
    *("Straight or right", "Straight or left", "Keep right", "Keep left", "Roundabout"),
    *("End of no passing", "End of no passing for lorries"),
)
#: As many published networks for such signs have them.
MEAN, STD = (0.3337, 0.3064, 0.3171), (0.2672, 0.2564, 0.2629)
SIDE = 32
_RED, _BLUE, _WHITE, _BLACK, _YELLOW = (
    (190, 30, 40),
    (30, 70, 170),
    (235,) * 3,
    (25,) * 3,
    (235, 180, 40),
)


def _look(number: int) -> tuple[str, tuple[int, ...], str]:
    """Shape, colour and the letters of a class."""
    name = NAMES[number]
    if name.startswith("Speed limit"):
        return "ring", _RED, name.split()[-1]
    if name.startswith("End"):
        return "disc", (120, 120, 120), {6: "80", 32: "//", 41: "oo", 42: "oO"}[number]
    if name in ("No passing", "No passing for lorries", "No vehicles", "No lorries"):
        return "ring", _RED, {9: "oo", 10: "oO", 15: "", 16: "O"}[number]
    if name == "Stop":
        return "eight", _RED, "STOP"
    if name == "No entry":
        return "disc", _RED, "-"
    if name == "Priority road":
        return "diamond", _YELLOW, ""
    if name == "Give way":
        return "down", _RED, ""
    if 33 <= number <= 40:
        return "disc", _BLUE, (">", "<", "^", "^>", "<^", "R", "L", "@")[number - 33]
    return "up", _RED, "abcdefghijklmnopqrstuvwxyzABCDEF"[number]


def photo(number: int, generator: np.random.Generator, *, hard: bool) -> Image.Image:
    """One photo of a sign of class ``number``; a hard one is dark, blurred or cut."""
    side = 128
    picture = Image.new("RGB", (side, side), tuple(generator.integers(30, 200, 3).tolist()))
    draw = ImageDraw.Draw(picture)
    for _ in range(6):
        x, y, w, h = generator.integers(0, side, 4).tolist()
        draw.rectangle((x, y, x + w, y + h), fill=tuple(generator.integers(20, 220, 3).tolist()))
    shape, colour, letters = _look(number)
    box = (14, 14, 114, 114)
    corners = {
        "up": [(64, 10), (118, 112), (10, 112)],
        "down": [(10, 16), (118, 16), (64, 118)],
        "diamond": [(64, 8), (120, 64), (64, 120), (8, 64)],
        "eight": [
            (42, 12),
            (86, 12),
            (116, 42),
            (116, 86),
            (86, 116),
            (42, 116),
            (12, 86),
            (12, 42),
        ],
    }
    if shape in corners:
        draw.polygon(corners[shape], fill=_WHITE if shape in ("up", "down") else colour)
        draw.line([*corners[shape], corners[shape][0]], fill=colour, width=12)
    else:
        draw.ellipse(box, fill=_WHITE if shape == "ring" else colour)
        draw.ellipse(box, outline=colour, width=14)
    font = ImageFont.load_default(34 if len(letters) > 2 else 46)
    ink = _BLACK if shape in ("ring", "up") else _WHITE
    draw.text((64, 74 if shape == "up" else 64), letters, font=font, fill=ink, anchor="mm")
    picture = picture.rotate(float(generator.normal(0, 5)), resample=Image.Resampling.BILINEAR)
    picture = picture.filter(
        ImageFilter.GaussianBlur(float(generator.uniform(0, 4 if hard else 1.5)))
    )
    pixels = np.asarray(picture, np.float32) * generator.uniform(0.25 if hard else 0.6, 1.1)
    pixels += generator.normal(0, 6, pixels.shape)
    picture = Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
    left, top = generator.integers(0, 14 if hard else 6, 2).tolist()
    picture = picture.crop((left, top, side - left // 2, side - top // 2))
    width = int(generator.integers(22, 130))
    return picture.resize((width, max(20, int(width * generator.uniform(0.85, 1.2)))))


def make_photos(folder: Path, each: int = 10, seed: int = 0) -> Path:
    """Writes ``folder/photos/00/…`` to ``42`` and ``folder/signnames.csv``."""
    generator = np.random.default_rng(seed)
    for number in range(len(NAMES)):
        place = folder / "photos" / f"{number:02}"
        place.mkdir(parents=True, exist_ok=True)
        for index in range(each):
            picture = photo(number, generator, hard=index % 3 == 0)
            picture.save(place / f"{number:05}_{index:05}.ppm")
    with (folder / "signnames.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("ClassId", "SignName"))
        writer.writerows(enumerate(NAMES))
    return folder / "photos"


def make_network(path: Path, each: int = 40, seed: int = 1, rounds: int = 8) -> Path:
    """Trains a small network on easy signs and writes it as an exported program (.pt2)."""
    torch.manual_seed(seed)
    generator = np.random.default_rng(seed)
    labels = torch.arange(len(NAMES)).repeat(each)
    pictures = [photo(int(number), generator, hard=False) for number in labels]
    sized = [np.asarray(picture.resize((SIDE, SIDE)), np.float32) / 255 for picture in pictures]
    x = torch.from_numpy(np.stack(sized)).permute(0, 3, 1, 2)
    x = (x - torch.tensor(MEAN).view(3, 1, 1)) / torch.tensor(STD).view(3, 1, 1)
    network = nn.Sequential(
        *(nn.Conv2d(3, 24, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(24, 48, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(48 * 64, 128), nn.ReLU(), nn.Linear(128, len(NAMES))),
    )
    optimiser = torch.optim.Adam(network.parameters(), 2e-3)
    for _ in range(rounds):
        for chosen in torch.randperm(len(x)).split(64):
            optimiser.zero_grad()
            nn.functional.cross_entropy(network(x[chosen]), labels[chosen]).backward()
            optimiser.step()
    program = torch.export.export(
        network.eval(), (x[:2],), dynamic_shapes=({0: torch.export.Dim("n")},)
    )
    torch.export.save(program, path)
    return path


if __name__ == "__main__":
    target = Path(sys.argv[1])
    make_photos(target)
    make_network(target / "signs.pt2")
