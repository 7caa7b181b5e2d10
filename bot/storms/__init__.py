"""Many failures at once: when they are a storm, and the message that counts them."""
