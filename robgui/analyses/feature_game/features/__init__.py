"""Features of an image: where they are, and how salient they make each pixel."""
