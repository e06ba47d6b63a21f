"""Many inputs and sizes of noise: the engine, its parts, words and pictures."""
