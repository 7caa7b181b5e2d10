"""JSON as the merge queue service sends it: one file a case, with its source noted inside."""

import json
from pathlib import Path
from typing import Any


def sample(name: str) -> Any:
    """The body of the sample `name`."""
    return json.loads((Path(__file__).parent / f"{name}.json").read_text("utf-8"))["body"]


def sample_bytes(name: str) -> bytes:
    """The body of the sample `name`, as it would come over the wire."""
    return json.dumps(sample(name)).encode()
