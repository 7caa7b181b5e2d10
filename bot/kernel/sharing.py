"""What Slack's events say of channels that others may read."""

from datetime import datetime
from typing import NamedTuple


class ChannelSharing(NamedTuple):
    """The newest event about the sharing of a channel."""

    until: datetime  #: until when it counts, which also says which event it was
    is_shared: bool
