"""How much a busy week is heard of in each style."""
