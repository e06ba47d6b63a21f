"""One pass over the inputs: neurons that are read, counts that add up, distances made of them."""
