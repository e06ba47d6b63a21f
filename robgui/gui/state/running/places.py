"""Where the window's runs compute: one worker, or several that share devices and cores."""

from __future__ import annotations

from collections.abc import Sequence

from robgui.core.execution.worker.cores import cores
from robgui.core.execution.worker.process import Place

#: More at once than this would only slow each other down.
MOST_AT_ONCE = 16


def window_places(count: int, device: str, devices: Sequence[str], chosen: str = "") -> list[Place]:
    """The devices and cores of each worker.

    One worker takes whatever device its run asks for. The first of several has the device in use,
    each further one another device; on the processor they share the cores.

    Args:
        count: How many runs at once.
        device: The device in use; empty while it is not known.
        devices: All there are.
        chosen: Where runs are sent to; if it has no worker yet, it has one beside them.
    """
    places = _usual_places(count, device, devices)
    known = {device, *(place.device for place in places)}
    if not chosen or chosen in known:
        return places
    return [*places, Place(chosen, asked=True)]


def _usual_places(count: int, device: str, devices: Sequence[str]) -> list[Place]:
    if count <= 1:
        return [Place()]
    others = [name for name in devices if name not in (device, "cpu")]
    if device in ("", "cpu"):
        faster = []
    else:
        faster = [device, *others][:count]
    on_cpu = count - len(faster)
    # More threads than cores make every run slower than one after the other.
    threads = max(1, cores() // max(1, on_cpu))
    return [*(Place(name) for name in faster), *[Place("cpu", threads)] * on_cpu]


def cluster_places(address: str, count: int) -> list[Place]:
    """Workers that have the cluster at ``address`` compute; none for an empty one.

    A cluster that is started for them is one, so it has one worker.
    """
    if not address:
        return []
    from robgui.batch.address import read_address
    from robgui.batch.places import cluster_place

    return [cluster_place(address)] * (1 if read_address(address) is None else count)
