"""Imports the bot's libraries, and nothing else."""

import asyncio

import aiohttp.web
import alembic.command
import apscheduler.schedulers.asyncio
import click
import httpx
import platformdirs
import prometheus_client
import pydantic_settings
import slack_bolt.async_app
import sqlalchemy
import structlog
import websockets.asyncio.client
import yaml

from tests.bench.contestant import attend, only_observed

IMPORTED = (
    aiohttp.web,
    alembic.command,
    apscheduler.schedulers.asyncio,
    click,
    httpx,
    platformdirs,
    prometheus_client,
    pydantic_settings,
    slack_bolt.async_app,
    sqlalchemy,
    structlog,
    websockets.asyncio.client,
    yaml,
)

if __name__ == "__main__":
    asyncio.run(attend(only_observed, imported=len(IMPORTED)))
