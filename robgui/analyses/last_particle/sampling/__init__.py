"""What is sampled beside the particles."""
