"""Usable proxy addresses, and addresses that bypass a proxy."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from bot.domain.errors import ConfigurationError

_PROBLEM = (
    "names no proxy of the form http://host:port or https://host:port;"
    " NO_PROXY takes hosts out of it"
)


def proxy_at(address: str, variable: str) -> str:
    """The address in the form our clients take; the scheme defaults to http://, as in curl.

    Raises ConfigurationError. It names `variable`, not the address, which may hold a password.
    """
    address = address if "://" in address else f"http://{address}"
    if not _is_for_http(address):
        raise ConfigurationError({variable: _PROBLEM})
    return address


def _is_for_http(address: str) -> bool:
    try:
        parts = urlsplit(address)
        # Reading the port checks that it is a number.
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def is_loopback(host: str) -> bool:
    """Whether a name or an address is this machine's own, which is never behind a proxy."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
