"""Networks as they are met in the wild, small: what must go on loading without trust."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn


class Block(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.down = nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
        )

    def forward(self, x: Tensor) -> Tensor:
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        y += self.down(x)
        return self.relu(y)


class ResNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 8, 7, 2, 3, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(True),
            nn.MaxPool2d(3, 2, 1),
        )
        self.layers = nn.Sequential(Block(8, 8), Block(8, 16, 2))
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(16, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(torch.flatten(self.pool(self.layers(self.stem(x))), 1))


class SqueezeExcite(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(channels, 4, 1)
        self.fc2 = nn.Conv2d(4, channels, 1)
        self.act = nn.ReLU()
        self.gate = nn.Hardsigmoid()

    def forward(self, x: Tensor) -> Tensor:
        return x * self.gate(self.fc2(self.act(self.fc1(self.pool(x)))))


class MobileNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1),
            nn.BatchNorm2d(8),
            nn.Hardswish(),
            nn.Conv2d(8, 8, 3, 1, 1, groups=8),
            nn.BatchNorm2d(8),
            nn.ReLU6(),
            SqueezeExcite(8),
            nn.Conv2d(8, 16, 1),
            nn.SiLU(),
        )
        self.classifier = nn.Sequential(
            nn.Linear(16, 8),
            nn.Hardswish(inplace=True),
            nn.Dropout(0.2, inplace=True),
            nn.Linear(8, 5),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.features(x).mean([2, 3]))


class DenseNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(3 + 4 * k, 4, 3, padding=1) for k in range(3)])
        self.norms = nn.ModuleDict({f"norm-{k}": nn.GroupNorm(2, 4) for k in range(3)})
        self.fc = nn.Linear(15, 5)

    def forward(self, x: Tensor) -> Tensor:
        features = [x]
        for conv, norm in zip(self.convs, self.norms.values(), strict=True):
            features.append(F.elu(norm(conv(torch.cat(features, 1)))))
        y = F.avg_pool2d(F.leaky_relu(torch.cat(features, 1), 0.1), 2)
        return self.fc(F.adaptive_max_pool2d(y, (1, 1)).flatten(1))


class Inception(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Conv2d(3, 4, 1)
        self.three = nn.Conv2d(3, 4, (1, 3), padding=(0, 1))
        self.pool = nn.MaxPool2d(3, 1, 1, ceil_mode=True)
        self.fc = nn.Linear(11, 5)

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[1] != 3:
            raise ValueError(f"expected three channels, got {x.shape[1]}")
        y = torch.cat([self.one(x), self.three(x), self.pool(x)], dim=1)
        return F.log_softmax(self.fc(F.dropout(y.mean((2, 3)), 0.5, self.training)), dim=1)


class ConvNext(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 4, 4)
        self.depthwise = nn.Conv2d(8, 8, 7, padding=3, groups=8)
        self.norm = nn.LayerNorm(8, eps=1e-6)
        self.up, self.down = nn.Linear(8, 32), nn.Linear(32, 8)
        self.scale = nn.Parameter(torch.full((8,), 0.5))
        self.fc = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        y = self.scale * self.down(F.gelu(self.up(y)))
        return self.fc((x + y.permute(0, 3, 1, 2)).mean(dim=(-2, -1)))


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, 2, 1)
        self.norm = nn.InstanceNorm2d(8, affine=True)
        self.back = nn.ConvTranspose2d(8, 4, 2, 2)
        self.shuffle = nn.PixelShuffle(2)
        self.act = nn.PReLU(8)
        self.fc = nn.Linear(17, 5)

    def forward(self, x: Tensor) -> Tensor:
        y = self.act(self.norm(self.down(x)))
        up = F.interpolate(y, scale_factor=2.0, mode="bilinear", align_corners=False)
        near = F.interpolate(y, size=x.shape[-2:], mode="nearest")
        merged = torch.cat([up, self.back(y), near[:, :3], self.shuffle(y)], 1)
        return self.fc(F.pad(merged, [1, 1, 1, 1], mode="reflect").amax((2, 3)))


class Attention(nn.Module):
    def __init__(self, size: int = 16, heads: int = 4) -> None:
        super().__init__()
        self.qkv, self.proj = nn.Linear(size, size * 3), nn.Linear(size, size)
        self.heads = heads

    def forward(self, x: Tensor) -> Tensor:
        n, length, size = x.shape
        q, k, v = (
            self.qkv(x)
            .reshape(n, length, 3, self.heads, size // self.heads)
            .permute(2, 0, 3, 1, 4)
            .unbind(0)
        )
        y = F.scaled_dot_product_attention(q, k, v)
        return self.proj(y.transpose(1, 2).reshape(n, length, size))


class VisionTransformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, 16, 8, 8)
        self.token = nn.Parameter(torch.zeros(1, 1, 16))
        self.places = nn.Parameter(torch.rand(1, 17, 16))
        self.attention, self.norm = Attention(), nn.LayerNorm(16)
        self.mlp = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Dropout(0.1), nn.Linear(32, 16))
        self.head = nn.Linear(16, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1) + self.places
        x = x + self.attention(self.norm(x))
        x = x + self.mlp(x)
        return self.head(x[:, 0])


class HandAttention(nn.Module):
    """Attention written by hand, with shifted windows and a table of relative places."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 8)
        self.table = nn.Parameter(torch.rand(9, 2))
        self.register_buffer("places", torch.randint(0, 9, (16, 16)))
        self.head = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = F.adaptive_avg_pool2d(torch.roll(x, [1, 1], [2, 3]), (4, 4)).flatten(2).transpose(1, 2)
        q = self.linear(x).view(x.size(0), 16, 2, 4).transpose(1, 2)
        bias = self.table[self.places.view(-1)].view(16, 16, -1).permute(2, 0, 1)
        scores = torch.matmul(q, q.transpose(-2, -1)) / math.sqrt(4.0) + bias.unsqueeze(0)
        scores = scores.masked_fill(torch.ones(16, 16, device=x.device).triu(1) > 0, -1e9)
        y = torch.einsum("bhij,bhjd->bihd", scores.softmax(-1), q)
        return self.head(y.reshape(x.size(0), 16, 8).mean(1))


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.embed = nn.Linear(4, 8)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.encoder(self.embed(x)).mean(1))


class SelfAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(4, 8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.head = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        y = self.embed(x)
        return self.head(self.attention(y, y, y)[0][:, -1])


class Recurrent(nn.Module):
    def __init__(self, layer: type[nn.RNNBase], ways: int = 1, layers: int = 1) -> None:
        super().__init__()
        self.core = layer(4, 6, layers, batch_first=True, bidirectional=ways == 2)
        self.head = nn.Linear(6 * ways, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.core(x)[0][:, -1, :])


class GivenState(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.core = nn.LSTM(4, 6)
        self.head = nn.Linear(6, 5)

    def forward(self, x: Tensor) -> Tensor:
        state = torch.zeros(1, x.shape[0], 6, device=x.device)
        y, (h, _) = self.core(x.transpose(0, 1), (state, state))
        return self.head(h.squeeze(0)) + y.sum() * 0


class Cells(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(4, 6)
        self.head = nn.Linear(6, 5)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.zeros(x.size(0), 6, device=x.device)
        for step in range(x.size(1)):
            h = self.cell(x[:, step], h)
        return self.head(h)


class Waves(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(4, 8, 3, padding=2, dilation=2), nn.BatchNorm1d(8), nn.Tanh(), nn.AvgPool1d(2)
        )
        self.head = nn.Sequential(
            nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(8, 5), nn.Softmax(dim=1)
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.conv(x.transpose(1, 2)))


IMAGE, SEQUENCE = (3, 32, 32), (7, 4)
NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "resnet": (ResNet, IMAGE),
    "mobilenet": (MobileNet, IMAGE),
    "densenet": (DenseNet, IMAGE),
    "inception": (Inception, IMAGE),
    "convnext": (ConvNext, IMAGE),
    "unet": (UNet, IMAGE),
    "vit": (VisionTransformer, IMAGE),
    "hand attention": (HandAttention, IMAGE),
    "encoder": (Encoder, SEQUENCE),
    "self-attention": (SelfAttention, SEQUENCE),
    "lstm": (lambda: Recurrent(nn.LSTM), SEQUENCE),
    "deep lstm": (lambda: Recurrent(nn.LSTM, 2, 2), SEQUENCE),
    "gru": (lambda: Recurrent(nn.GRU, 2), SEQUENCE),
    "rnn": (lambda: Recurrent(nn.RNN), SEQUENCE),
    "given state": (GivenState, SEQUENCE),
    "cells": (Cells, SEQUENCE),
    "waves": (Waves, SEQUENCE),
}


def network(name: str) -> nn.Module:
    """The network in evaluation mode, always with the same weights."""
    torch.manual_seed(0)
    return NETWORKS[name][0]().eval()
