"""Names of the Home tab's buttons."""

HOME_ON = "mq:home_on"


HOME_BACK = "mq:home_back"
