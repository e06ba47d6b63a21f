"""Questions about models, and whoever answers them."""
