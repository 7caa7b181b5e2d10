"""Block Kit: which blocks and views Slack takes, and what it makes of them."""
