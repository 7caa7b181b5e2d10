"""The commands of `mqbot`."""
