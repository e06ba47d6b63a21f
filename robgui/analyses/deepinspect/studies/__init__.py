"""Studies of the method itself: when a neuron counts as active, and what coverage shows."""
