"""How fast the bot is, as ratios to small programs that use the same libraries."""
