"""Names of the Home tab's buttons."""

HOME_ON = "mq:home_on"


HOME_BACK = "mq:home_back"


HOME_PAGE = "mq:home_page"
"""Shows another page of the tab, which the value names."""


WHO_MAY = "mq:who_may"
