"""`python -m tests.bench.services.pages`: event logs, perhaps over TLS."""

import argparse
import asyncio
import ssl
from collections.abc import Mapping
from pathlib import Path

from tests.bench.contestant import attend
from tests.bench.services.merge_queue import PageService


def _tls(folder: Path | None) -> ssl.SSLContext | None:
    if folder is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    return context


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=0)
    parser.add_argument("--tls", type=Path, default=None)
    arguments = parser.parse_args()
    async with PageService(arguments.pages, _tls(arguments.tls)) as service:

        async def play(_amount: int) -> Mapping[str, float]:
            return {"requests": service.requests}

        await attend(play, port=service.port)


if __name__ == "__main__":
    asyncio.run(main())
