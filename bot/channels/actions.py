"""Names and values of the buttons and forms about subscriptions."""

SUBSCRIPTION_ADD = "mq:subscription_add"


SUBSCRIPTION_CHANGE = "mq:subscription_change"


SUBSCRIPTION_END = "mq:subscription_end"


SUBSCRIPTION_VIEW = "mq:subscription_view"


CHANNEL_BLOCK = "channel"


LEVEL_BLOCK = "level"


DIGEST_BLOCK = "digest"


def value(channel_id: str, target: str) -> str:
    """What a button of one subscription carries."""
    return f"{channel_id} {target}"


def read_value(chosen: str) -> tuple[str, str]:
    """The channel and the target of `value`."""
    channel_id, _, target = chosen.partition(" ")
    return channel_id, target
