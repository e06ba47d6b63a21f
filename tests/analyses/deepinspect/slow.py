"""The definitions of the paper, written down letter by letter with loops; slow and beyond doubt."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np


def rho(act: np.ndarray, member: np.ndarray) -> np.ndarray:
    neurons, classes = act.shape[1], member.shape[1]
    result = np.full((neurons, classes), np.nan)
    for c in range(classes):
        mine = [i for i in range(len(act)) if member[i, c]]
        for j in range(neurons):
            if mine:
                result[j, c] = sum(1 for i in mine if act[i, j]) / len(mine)
    return result


def napvd(rho: np.ndarray, norm: str) -> np.ndarray:
    classes = rho.shape[1]
    result = np.zeros((classes, classes))
    for a in range(classes):
        for b in range(classes):
            squares = sum((rho[j, a] - rho[j, b]) ** 2 for j in range(len(rho)))
            if norm == "rms":
                active = sum(1 for j in range(len(rho)) if rho[j, a] > 0 or rho[j, b] > 0)
                squares = squares / active if active else 0.0
            result[a, b] = math.sqrt(squares)
    return result


def limit(distance: np.ndarray, which: str) -> float:
    values = [distance[a, b] for a, b in combinations(range(len(distance)), 2)]
    mean = sum(values) / len(values)
    std = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    return {"low": mean - std, "paper": mean + std, "none": math.inf}[which]


def avg_bias(distance: np.ndarray, which: str) -> np.ndarray:
    classes = len(distance)
    th = limit(distance, which)
    result = np.zeros((classes, classes))
    for a in range(classes):
        for b in range(classes):
            total = 0.0
            for c in range(classes):
                if c in (a, b) or not (distance[c, a] < th or distance[c, b] < th):
                    continue
                below = distance[c, a] + distance[c, b]
                total += abs(distance[c, a] - distance[c, b]) / below if below else 0.0
            result[a, b] = 0 if a == b else total / (classes - 2)
    return result


def type1conf(y: np.ndarray, yhat: np.ndarray, m: int) -> np.ndarray:
    result = np.zeros((m, m))
    for a in range(m):
        for b in range(m):
            if a == b:
                continue
            directions = []
            for x, z in ((a, b), (b, a)):
                mine = [i for i in range(len(y)) if y[i] == x]
                if mine:
                    directions.append(sum(1 for i in mine if yhat[i] == z) / len(mine))
            result[a, b] = sum(directions) / len(directions) if directions else np.nan
    return result


def type2conf(truth: np.ndarray, predicted: np.ndarray, fewest: int) -> np.ndarray:
    m = truth.shape[1]
    result = np.zeros((m, m))
    for a in range(m):
        for b in range(m):
            if a == b:
                continue
            directions = []
            for x, z in ((a, b), (b, a)):
                mine = [i for i in range(len(truth)) if truth[i, x] and not truth[i, z]]
                if len(mine) >= fewest:
                    directions.append(
                        sum(1 for i in mine if predicted[i, x] and predicted[i, z]) / len(mine)
                    )
            result[a, b] = sum(directions) / len(directions) if directions else np.nan
    return result


def avg_cd(conf: np.ndarray) -> np.ndarray:
    m = len(conf)
    result = np.zeros((m, m))
    for x in range(m):
        for y in range(m):
            if x == y:
                continue
            values = [abs(conf[x, z] - conf[y, z]) for z in range(m) if z not in (x, y)]
            values = [value for value in values if not math.isnan(value)]
            result[x, y] = sum(values) / len(values) if values else np.nan
    return result


def aucec(scores: np.ndarray, truth: np.ndarray) -> float:
    """For scores that all differ."""
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    area, found = 0.0, 0
    for i in order:
        before = found
        found += int(truth[i])
        area += (before + found) / 2 / sum(truth) / len(scores)
    return area


def scaled(output: np.ndarray) -> np.ndarray:
    """One input's layer output ``(c, h, w)`` or ``(u,)`` -> one number per neuron."""
    low, high = output.min(), output.max()
    means = [channel.mean() for channel in output]
    return np.array([(mean - low) / (high - low) if high > low else 0.0 for mean in means])
