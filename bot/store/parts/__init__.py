"""The parts of a transaction: a file for each, but for the outbox, which has a package."""
