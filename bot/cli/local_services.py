"""Shared by `mqbot demo` and `mqbot sandbox`: their options and their errors."""

import math
import os

import click
from typing_extensions import override

PORT = click.IntRange(0, 65535)


class Speed(click.FloatRange):
    """At most a thousand: from about ten thousand, simulating leaves no time to answer."""

    def __init__(self) -> None:
        super().__init__(min=0, max=1000, min_open=True)

    @override
    def convert(
        self, value: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        speed = float(super().convert(value, param, ctx))
        if math.isnan(speed):
            self.fail(f"{value} is not a number.", param, ctx)
        return speed


def port_refused(port: int, error: OSError) -> str:
    """The system's own error text: asyncio's repeats the address."""
    why = os.strerror(error.errno) if error.errno is not None else str(error)
    return f"port {port} cannot be used: {why}"
