"""What the pretended device needs of its own: the fused cells of recurrent layers, which torch
asks of every device but the CPU, and errors in a backward pass.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

#: Workspaces of cells computed while cuDNN was on: it has no backward pass in evaluation mode.
_OF_CUDNN: set[int] = set()

#: What went wrong in a backward pass; told at its end.
_PENDING: list[Exception] = []


def fail(error: Exception) -> None:
    """Raises the error, in a backward pass at its end: in the middle torch would end the process,
    because the device's guard is one of Python.
    """
    if torch._C._current_graph_task_id() == -1:
        raise error
    _PENDING.append(error)


def told(backward: Callable[..., Any]) -> Callable[..., Any]:
    """The same pass, raising at its end what went wrong in it."""

    @functools.wraps(backward)
    def checked(*args: Any, **kwargs: Any) -> Any:
        gradients = backward(*args, **kwargs)
        if _PENDING:
            error = _PENDING[0]
            _PENDING.clear()
            raise error
        return gradients

    return checked


def lstm(
    of_input: Tensor,
    of_hidden: Tensor,
    cx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """One step of a long short-term memory: h, c and the gates."""
    gates = of_input + of_hidden
    for bias in (input_bias, hidden_bias):
        gates = gates if bias is None else gates + bias
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * cx + i * g
    return o * cy.tanh(), cy, _marked(torch.cat([i, f, g, o], 1))


def lstm_backward(
    grad_hy: Tensor | None,
    grad_cy: Tensor | None,
    cx: Tensor,
    cy: Tensor,
    workspace: Tensor,
    has_bias: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of the gates, of c, and of the bias."""
    _refuse_cudnn(workspace)
    i, f, g, o = workspace.chunk(4, 1)
    through = cy.tanh()
    hy = torch.zeros_like(cy) if grad_hy is None else grad_hy
    to_c = hy * o * (1 - through * through) + (0 if grad_cy is None else grad_cy)
    gates = torch.cat(
        [
            to_c * g * i * (1 - i),
            to_c * cx * f * (1 - f),
            to_c * i * (1 - g * g),
            hy * through * o * (1 - o),
        ],
        1,
    )
    return gates, to_c * f, gates.sum(0) if has_bias else gates.new_zeros(0)


def gru(
    of_input: Tensor,
    of_hidden: Tensor,
    hx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """One step of a gated recurrent unit: h and what its backward pass needs."""
    of_input = of_input if input_bias is None else of_input + input_bias
    of_hidden = of_hidden if hidden_bias is None else of_hidden + hidden_bias
    (ir, iz, i_new), (hr, hz, h_new) = of_input.chunk(3, 1), of_hidden.chunk(3, 1)
    r, z = (ir + hr).sigmoid(), (iz + hz).sigmoid()
    new = (i_new + r * h_new).tanh()
    return new + z * (hx - new), _marked(torch.cat([r, z, new, hx, h_new], 1))


def gru_backward(grad_hy: Tensor, workspace: Tensor, has_bias: bool) -> tuple[Tensor, ...]:
    """Gradients of the input's gates, the hidden gates, h and the biases."""
    _refuse_cudnn(workspace)
    r, z, new, hx, h_new = workspace.chunk(5, 1)
    to_new = grad_hy * (1 - z) * (1 - new * new)
    to_z = grad_hy * (hx - new) * z * (1 - z)
    to_r = to_new * h_new * r * (1 - r)
    of_input = torch.cat([to_r, to_z, to_new], 1)
    of_hidden = torch.cat([to_r, to_z, to_new * r], 1)
    biases = (of_input.sum(0), of_hidden.sum(0)) if has_bias else (of_input.new_zeros(0),) * 2
    return of_input, of_hidden, grad_hy * z, *biases


def one_hot(classes: Tensor, count: int = -1) -> Tensor:
    """As torch has it, whose own would be made on index 0 wherever the classes are."""
    count = int(classes.max()) + 1 if count < 0 else count
    return (classes.unsqueeze(-1) == torch.arange(count, device=classes.device)).long()


def _marked(workspace: Tensor) -> Tensor:
    key = workspace.untyped_storage()._cdata
    if torch.backends.cudnn.enabled:
        _OF_CUDNN.add(key)
    else:
        _OF_CUDNN.discard(key)
    return workspace


def _refuse_cudnn(workspace: Tensor) -> None:
    if workspace.untyped_storage()._cdata in _OF_CUDNN:
        fail(RuntimeError("cudnn RNN backward can only be called in training mode"))


#: By torch's name of the operation.
CELLS: dict[str, Callable[..., Any]] = {
    "aten::_thnn_fused_lstm_cell": lstm,
    "aten::_thnn_fused_lstm_cell_backward_impl": lstm_backward,
    "aten::_thnn_fused_gru_cell": gru,
    "aten::_thnn_fused_gru_cell_backward": gru_backward,
}
