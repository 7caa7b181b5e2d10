"""What people do in the workspace."""
