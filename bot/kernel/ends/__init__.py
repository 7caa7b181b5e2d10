"""When a pause or freeze ends, as people type it."""
