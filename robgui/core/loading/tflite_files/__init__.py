"""TensorFlow Lite networks, computed by LiteRT."""
