"""The proxy towards Slack: the same for the Web API, for answers to people and for sockets."""

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from bot.domain.proxies import is_loopback, proxy_at


def proxy_towards(address: str) -> str | None:
    """As `HTTPS_PROXY`, else `HTTP_PROXY`, and `NO_PROXY` say; a service here is behind none.

    Raises ConfigurationError when it is none for HTTP.
    """
    host = urlsplit(address).hostname or ""
    if is_loopback(host) or proxy_bypass(host):
        return None
    proxies = getproxies()
    scheme = "https" if proxies.get("https") else "http"
    proxy = proxies.get(scheme)
    return proxy_at(proxy, f"{scheme.upper()}_PROXY") if proxy else None
