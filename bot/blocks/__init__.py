"""Block Kit builders, text escaping, controls: no subject."""
