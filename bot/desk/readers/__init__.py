"""How each command's words are read, for those that take more than a repository and options."""
