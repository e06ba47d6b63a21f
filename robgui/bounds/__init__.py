"""Formal bounds: what no input in a box can do, proven rather than sampled.

``certify`` bounds the margin of the right class over the L-infinity ball inside [0, 1]: CROWN for
networks of linear, convolution, ReLU and pooling layers, reachable leaves for tree ensembles. The
bounds hold for the model as it computes, in single precision, and are confirmed on the model
itself. A model without bounds gets a reason.
"""

from robgui.bounds.certificate import Certificate, certify, certifying, no_certificate

__all__ = ["Certificate", "certify", "certifying", "no_certificate"]
