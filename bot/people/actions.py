"""Names of the buttons about notifications."""

WATCH = "mq:watch"


NOTICE_BUTTON = "mq:notice"


NOTICE_STOP = "mq:notice_stop"


OFF_SUFFIX = " off"
"""Ends its value, after the notice."""


STOP_WAITING = "mq:stop_waiting"
