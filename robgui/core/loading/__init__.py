"""Model files: every format becomes a Classifier, and no file executes code unless the user
trusts it.
"""

from robgui.core.loading.architecture import is_ours
from robgui.core.loading.devices import default_device, devices
from robgui.core.trust.opening import load

__all__ = ["default_device", "devices", "is_ours", "load"]
