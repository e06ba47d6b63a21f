"""Where the class changes: by gradients, and by bisection between samples."""
