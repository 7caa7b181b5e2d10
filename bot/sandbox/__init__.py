"""Two local services to try mqbot on with no accounts; imports nothing of the bot."""
