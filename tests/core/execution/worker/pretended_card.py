"""Lets a worker believe that it uses a graphics card of 24 GB, for machines without one."""

from __future__ import annotations

import torch

torch.cuda.is_initialized = lambda: True
torch.cuda.device_count = lambda: 1
torch.cuda.mem_get_info = lambda index: (20_900_000_000, 24_000_000_000)
