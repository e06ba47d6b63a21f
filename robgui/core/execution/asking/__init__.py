"""Questions about models, and the code that answers them."""
