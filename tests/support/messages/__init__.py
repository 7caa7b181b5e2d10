"""Every message and view, as cases: the function that makes it, and what it shows."""
