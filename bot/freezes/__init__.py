"""Freezes, scheduled ones and recurring windows."""
