"""Which channel follows what."""
