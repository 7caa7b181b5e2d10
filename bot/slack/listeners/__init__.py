"""The listeners that Bolt calls when a person typed, pressed, submitted or opened something."""
