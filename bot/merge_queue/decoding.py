"""The body of an answer, decoded no further than it may be long.

httpx decodes each piece whole, through as many encodings as the header names: a few hundred bytes,
packed three times, become gigabytes before anybody can look at their number.
"""

import zlib

from bot.domain.errors import MergeQueueProtocolError

ACCEPTED = "gzip, deflate"
"""For the request's `Accept-Encoding`."""

LARGEST_BODY = 32 * 1024 * 1024

_GZIP = zlib.MAX_WBITS | 16
_METHOD, _DEFLATE = 0x0F, 8
"""Of the first byte of a zlib header, which some servers leave out (RFC 9110, section 8.4.1.2)."""


class Body:
    """Takes the pieces as they come; `content` is what they were before they were packed."""

    def __init__(self, encoding: str) -> None:
        """`encoding` is the header `Content-Encoding`. Raises MergeQueueProtocolError."""
        named = encoding.strip().lower()
        if named not in {"", "identity", "gzip", "x-gzip", "deflate"}:
            raise MergeQueueProtocolError("the body is encoded as nobody asked for")
        self._encoding = named
        self._unpacking: zlib._Decompress | None = None
        self.content = bytearray()

    def add(self, piece: bytes) -> None:
        """Raises MergeQueueProtocolError for more than LARGEST_BODY, or what cannot be unpacked."""
        self.content += self._unpacked(piece) if piece else b""
        if len(self.content) > LARGEST_BODY:
            raise MergeQueueProtocolError("an answer of more than 32 MiB")

    def _unpacked(self, piece: bytes) -> bytes:
        if self._encoding in {"", "identity"}:
            return piece
        self._unpacking = self._unpacking or zlib.decompressobj(self._window_bits(piece))
        try:
            # One byte more than there may be: enough to know, whatever else is packed in it.
            return self._unpacking.decompress(piece, LARGEST_BODY + 1 - len(self.content))
        except zlib.error:
            raise MergeQueueProtocolError("the body is not encoded as its header says") from None

    def _window_bits(self, piece: bytes) -> int:
        if self._encoding != "deflate":
            return _GZIP
        has_header = piece[0] & _METHOD == _DEFLATE
        return zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS
