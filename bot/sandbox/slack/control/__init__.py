"""What tests and the page ask of the workspace."""
