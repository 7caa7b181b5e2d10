"""Why a connection failed, in a few words of ours, not the libraries'."""

import socket
import ssl
from collections.abc import Iterator

EXPIRED = 10
"""OpenSSL's X509_V_ERR_CERT_HAS_EXPIRED."""

OTHER_NAME = frozenset({62, 64})
"""OpenSSL's X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH."""

NO_CONNECTION = "no connection"


def why_lost(error: BaseException) -> str | None:
    """None if nothing more is known than that there was no answer."""
    # What came first knows most; aiohttp's own errors look like Python's.
    words = (_os_error_in_words(cause) for cause in reversed(list(_chain(error))))
    return next((said for said in words if said is not None), None)


def _os_error_in_words(cause: BaseException) -> str | None:
    match cause:
        case ssl.SSLCertVerificationError(verify_code=code):
            return _of_certificate(code)
        case ssl.SSLError():
            return "it doesn't speak TLS there"
        case socket.gaierror():
            return "its name can't be resolved"
        case ConnectionRefusedError():
            return "it refuses connections"
        case _:
            return None


def _of_certificate(code: int) -> str:
    if code == EXPIRED:
        return "its certificate has expired"
    if code in OTHER_NAME:
        return "its certificate is for another name"
    return "its certificate isn't trusted; SSL_CERT_FILE can name one that signed it"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception, what caused it, and what was being handled meanwhile."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        waiting += [current.__context__, current.__cause__]
        if isinstance(current, BaseExceptionGroup):
            waiting += current.exceptions
