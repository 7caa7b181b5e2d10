"""How the app hears of what happens."""
