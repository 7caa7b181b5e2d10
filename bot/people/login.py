"""What a login on the code host looks like."""

import re

LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?(?:\[bot\])?", re.ASCII)
"""What code hosts take for a login, at its widest."""
