"""Pauses, all of them."""
