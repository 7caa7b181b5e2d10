"""A certificate of this machine's own, made for one run."""

import asyncio
from pathlib import Path


async def make(folder: Path) -> None:
    """`certificate.pem` and `key.pem` for 127.0.0.1, with the system's openssl."""
    process = await asyncio.create_subprocess_exec(
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
        *("-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"),
        *("-addext", "subjectAltName=IP:127.0.0.1"),
        *("-keyout", folder / "key.pem", "-out", folder / "certificate.pem"),
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert await process.wait() == 0, "openssl made no certificate"
