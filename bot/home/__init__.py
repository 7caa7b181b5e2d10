"""The Home tab, and a person's own page."""
