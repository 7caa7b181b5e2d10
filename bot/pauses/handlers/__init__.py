"""Commands, buttons and forms about pauses."""
