"""What channels and people have chosen, and what the configuration chose for them."""
