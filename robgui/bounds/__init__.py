"""Formal bounds: what no input of a box can do, by proof instead of by sampling.

``certify`` bounds the margin of the right class over the L-infinity ball inside [0, 1]: CROWN for
networks made of linear, convolution, rectifier and pooling layers, reachable leaves for tree
ensembles. The bounds hold for the model as it computes, in single precision, and are tried on the
model itself. What has no bounds gets a reason.
"""

from robgui.bounds.certificate import Certificate, certify, certifying, no_certificate

__all__ = ["Certificate", "certify", "certifying", "no_certificate"]
