"""`mqbot check`: checks everything the bot depends on; a failure never stops the other checks."""
