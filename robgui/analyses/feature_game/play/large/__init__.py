"""Large images: an example by painting, then fewer pixels by exchange."""
