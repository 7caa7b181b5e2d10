"""What the workspace holds, whoever asks for it."""
