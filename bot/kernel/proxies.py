"""The proxy for an address, as the environment names it: the same for Slack and the service."""

from ipaddress import ip_address
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from bot.kernel.errors import ConfigurationError

_PROBLEM = (
    "names no proxy of the form http://host:port or https://host:port;"
    " NO_PROXY takes hosts out of it"
)


def proxy_towards(address: str) -> str | None:
    """`HTTPS_PROXY`, else `HTTP_PROXY`, else `ALL_PROXY`; for http addresses `HTTP_PROXY` first.

    None for this machine's own addresses and for those in `NO_PROXY`. Raises ConfigurationError for
    a proxy that can't be used. It names the variable, not the address, which may hold a password.
    """
    parts = urlsplit(address)
    host = parts.hostname or ""
    if is_loopback(host) or proxy_bypass(host):
        return None
    proxies = getproxies()
    order = ("http", "https", "all") if parts.scheme == "http" else ("https", "http", "all")
    scheme = next((name for name in order if proxies.get(name)), None)
    if scheme is None:
        return None
    # Without a scheme it means http://, as in curl.
    proxy = proxies[scheme] if "://" in proxies[scheme] else f"http://{proxies[scheme]}"
    if not _is_for_http(proxy):
        raise ConfigurationError({f"{scheme.upper()}_PROXY": _PROBLEM})
    return proxy


def _is_for_http(proxy: str) -> bool:
    try:
        parts = urlsplit(proxy)
        # Reading the port checks that it is a number.
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def is_open_http(address: str) -> bool:
    """Whether a token sent there could be read on its way: plain http to another machine."""
    try:
        parts = urlsplit(address)
        return parts.scheme == "http" and not is_loopback(parts.hostname or "")
    except ValueError:
        # Not an address at all, which whoever sends there reports.
        return False


def open_http_problem(setting: str) -> str:
    """`setting`: what allows it."""
    return (
        "is plain http to another machine, so that others could read the token on its way; "
        f"use https, or set {setting} to true if nobody else is on that network"
    )


def is_loopback(host: str) -> bool:
    """Whether it is this machine."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
