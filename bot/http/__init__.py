"""The server of both HTTP ports, with its limits."""
