"""Image noise that does not average out over the pixels: blotches, light, compression.

Each is a function of a Gaussian latent point, so the particles move as for any other noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from robgui.analyses.last_particle.particles.kernel import Bound

#: Quantisation of luminance and chrominance at quality 50 (ITU-T T.81, Annex K).
_LUMINANCE = (
    *(16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55),
    *(14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62),
    *(18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92),
    *(49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99),
)
_CHROMINANCE = (
    *(17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99),
    *(24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99, 99, 99, 99),
    *(99,) * 32,
)
#: RGB to luminance and two chrominances (JFIF).
_COLOURS = (
    (0.299, 0.587, 0.114),
    (-0.168736, -0.331264, 0.5),
    (0.5, -0.418688, -0.081312),
)
#: Lowest quality.
#: The scaling divides by the quality; 0 has no table.
_WORST = 1.0


def smooth(x: Tensor, reach: Tensor, blur: float) -> Bound:
    """White noise blurred by a Gaussian of ``blur`` pixels.

    It is scaled back to standard deviation ``reach`` at every pixel, edges included.

    Args:
        x: ``(n, c, h, w)``.
        reach: Standard deviations that broadcast to it.
        blur: In pixels.
    """
    rows, columns = (blurring(size, blur).to(x.device, x.dtype) for size in x.shape[2:])

    def inputs(latent: Tensor) -> Tensor:
        # Separable: one product for rows, one for columns.
        return x + reach * (rows @ latent.reshape(x.shape) @ columns.T)

    return inputs


def blurring(size: int, width: float) -> Tensor:
    """The blurring matrix ``(size, size)``.

    Its rows have length 1, which keeps the variance of white noise.
    """
    place = torch.arange(size, dtype=torch.float64, device=torch.device("cpu"))
    weights = torch.exp(-((place[:, None] - place) ** 2) / (2 * width**2))
    # Rows of length 1, not of sum 1: each pixel keeps variance 1, at the edges too.
    return weights / weights.square().sum(1, keepdim=True).sqrt()


def light(x: Tensor, reach: Tensor) -> Bound:
    """Contrast times exp(reach z₁) about the mean of the image, brightness plus reach z₂."""
    mean = x.mean((1, 2, 3), keepdim=True)

    def inputs(latent: Tensor) -> Tensor:
        contrast, shift = latent[:, :, None, None, None].unbind(1)
        # exp keeps the contrast above 0 and makes halving as likely as doubling.
        return mean + (x - mean) * torch.exp(reach * contrast) + reach * shift

    return inputs


def compressed(x: Tensor, sizes: Tensor) -> Bound:
    """Through JPEG at a quality uniform between 100 (1 - size) and 100.

    Args:
        x: ``(n, c, h, w)``.
        sizes: ``(n,)``.
    """
    spectrum = _spectrum(x)

    def inputs(latent: Tensor) -> Tensor:
        # Φ(z) is uniform, so the quality is uniform between 100 (1 - size) and 100.
        share = torch.special.ndtr(latent[:, 0])
        return spectrum((100 * (1 - sizes * share)).clamp_min(_WORST))

    return inputs


def jpeg(x: Tensor, quality: Tensor) -> Tensor:
    """Images ``(n, c, h, w)`` in [0, 1] after JPEG compression of ``quality`` ``(n,)``.

    Colours are not subsampled, and the quality need not be a whole number. All loss comes from
    rounding the coefficients; coding them loses nothing.
    """
    return _spectrum(x)(quality)


def _spectrum(x: Tensor) -> Callable[[Tensor], Tensor]:
    """Quality ``(n,)`` -> images; the coefficients are computed once."""
    height, width = x.shape[2:]
    # JPEG shifts the levels by 128 before its transform.
    levels = 255 * x - 128
    colours = torch.tensor(_COLOURS, device=x.device, dtype=x.dtype)
    coloured = x.shape[1] == 3
    if coloured:
        levels = torch.einsum("kc,nchw->nkhw", colours, 255 * x)
        levels = levels - torch.tensor([128.0, 0, 0], device=x.device)[:, None, None]
    # Blocks of 8 × 8; what is missing is filled by repeating the border, as encoders do.
    padded = torch.nn.functional.pad(levels, (0, -width % 8, 0, -height % 8), mode="replicate")
    n, c, h, w = padded.shape
    wave = _cosines().to(x.device, x.dtype)
    blocks = padded.reshape(n, c, h // 8, 8, w // 8, 8)
    coefficients = torch.einsum("ui,ncaibj,vj->ncaubv", wave, blocks, wave)
    tables = torch.tensor([_LUMINANCE, _CHROMINANCE], device=x.device, dtype=x.dtype)
    table = tables.reshape(2, 8, 8)[[0, 1, 1] if coloured else [0] * c][:, None, :, None, :]

    def images(quality: Tensor) -> Tensor:
        # The scaling of libjpeg: 5000 / q per cent below 50, 200 - 2 q from there on.
        factor = torch.where(quality < 50, 50 / quality, 2 - quality / 50)
        step = (table * factor.reshape(-1, 1, 1, 1, 1, 1)).clamp(1, 255)
        # Quantisation: where JPEG loses what it loses.
        kept = (coefficients / step).round() * step
        back = torch.einsum("ui,ncaubv,vj->ncaibj", wave, kept, wave).reshape(n, c, h, w)
        back = back[:, :, :height, :width]
        if coloured:
            back = back + torch.tensor([128.0, 0, 0], device=x.device)[:, None, None]
            back = torch.einsum("ck,nkhw->nchw", torch.linalg.inv(colours), back)
        else:
            back = back + 128
        # Decoders give whole levels.
        return back.round().clamp(0, 255) / 255

    return images


def _cosines() -> Tensor:
    """The orthonormal cosine transform of 8 numbers ``(8, 8)``, frequency first."""
    place = torch.arange(8, dtype=torch.float64, device=torch.device("cpu"))
    # Orthonormal DCT-II of T.81: c(u)/2 · cos((2x + 1) u π / 16) with c(0) = 1/√2.
    waves = torch.cos((2 * place + 1) * place[:, None] * math.pi / 16) / 2
    waves[0] /= math.sqrt(2)
    return waves
