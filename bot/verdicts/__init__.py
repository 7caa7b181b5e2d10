"""Why a pull request left the queue: one verdict, told in the same words everywhere."""
