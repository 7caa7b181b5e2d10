"""What is measured, one module for one thing."""
