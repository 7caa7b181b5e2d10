"""Values and decisions: standard library and pydantic only, no I/O."""
