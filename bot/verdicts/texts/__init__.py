"""Words for verdicts."""
