"""One rule for each verdict on a queue; `order` has them in order."""
