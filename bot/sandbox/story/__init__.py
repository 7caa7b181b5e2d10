"""The demo's story: what people did before somebody opens the page, and what can still happen."""
