"""The table of commands, reading what people type, handing it to its handler, explaining errors."""
