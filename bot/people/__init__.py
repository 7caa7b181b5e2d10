"""People and their accounts on the code host."""
