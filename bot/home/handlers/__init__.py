"""The Home tab's buttons, and commands about a person's own items."""
