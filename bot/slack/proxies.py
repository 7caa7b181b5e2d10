"""The proxy towards Slack: the same for the Web API, for answers to people and for sockets."""

from ipaddress import ip_address
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass


def proxy_towards(address: str) -> str | None:
    """As `HTTPS_PROXY`, else `HTTP_PROXY`, and `NO_PROXY` say; a service here is behind none."""
    host = urlsplit(address).hostname or ""
    if _is_loopback(host) or proxy_bypass(host):
        return None
    proxies = getproxies()
    return proxies.get("https") or proxies.get("http") or None


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
