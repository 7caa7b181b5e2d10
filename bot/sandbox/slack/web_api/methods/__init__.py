"""The Web API methods, one module per family."""
