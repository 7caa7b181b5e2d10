"""The Web API as an app calls it."""
