"""What simulated pull requests are about: titles as people write them, with their scope."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Title:
    """A title, the part of the code that it changes, and the label that people give it."""

    text: str
    scope: str
    label: str


def _titles(scope: str, label: str, *texts: str) -> tuple[Title, ...]:
    return tuple(Title(text, scope, label) for text in texts)


TITLES = (
    *_titles(
        "frontend",
        "enhancement",
        "Show delivery dates in the basket",
        "Keep filters when going back to the search results",
        "Load product pictures lazily",
        "Let guests save an address",
        "Add a dark theme to the help pages",
        "Show a skeleton while the account page loads",
        "Offer gift wrapping at checkout",
        "Remember the chosen currency",
        "Add keyboard shortcuts to the order list",
        "Show stock levels on the product page",
    ),
    *_titles(
        "frontend",
        "bug",
        "Fix the double tap on the pay button",
        "Fix focus order in the sign-in form",
        "Stop the header from jumping on iPads",
        "Fix rounding in the price filter",
        "Wrap long names in the address card",
        "Fix the empty basket badge after signing out",
        "Fix contrast of disabled buttons",
    ),
    *_titles(
        "backend",
        "enhancement",
        "Cache exchange rates for ten minutes",
        "Send invoices as PDF/A",
        "Use one query for the order history",
        "Add an endpoint for partial refunds",
        "Index orders by their delivery date",
        "Queue e-mails instead of sending them inline",
        "Expose the tax rate in the invoice API",
        "Validate VAT numbers when an account is created",
        "Batch the nightly stock import",
    ),
    *_titles(
        "backend",
        "bug",
        "Retry webhooks that answer 502",
        "Fix a race between refund and cancellation",
        "Treat an empty coupon as no coupon",
        "Fix time zones in the monthly report",
        "Don't log card fingerprints",
        "Fix the session timeout after a password change",
        "Return 404 for deleted customers",
        "Release the lock when a payment times out",
    ),
    *_titles(
        "infra",
        "enhancement",
        "Build the images for arm64 too",
        "Rotate logs daily",
        "Run database migrations in their own job",
        "Scale the search workers by queue length",
        "Move static files to the CDN",
        "Pin the base image by digest",
    ),
    *_titles(
        "infra",
        "bug",
        "Raise the memory limit of the indexer",
        "Fix health checks during a rolling deploy",
        "Close idle database connections",
        "Stop alerting on retried jobs",
    ),
)

BUMPS = _titles(
    "infra",
    "dependencies",
    "Bump httpx from 0.28.0 to 0.28.1",
    "Bump playwright from 1.58.0 to 1.59.0",
    "Bump pydantic from 2.12.4 to 2.12.5",
    "Bump the linters group with 3 updates",
    "Bump vite from 7.2.1 to 7.2.4",
    "Bump postgres from 17.6 to 17.7 in /docker",
)
"""What the program that updates dependencies writes."""
