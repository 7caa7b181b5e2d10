"""Freezing, unfreezing and letting pull requests through, at people's request."""
