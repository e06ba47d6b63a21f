"""One pass over the inputs: reads neurons, adds counts, and computes distances from them."""
