"""Both local services at once, as the demo and the tests start them."""

from dataclasses import dataclass
from types import TracebackType
from typing import Self

from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.slack.server import SlackSandbox


@dataclass(frozen=True, slots=True)
class SandboxAddresses:
    """Where the two services are, and what opens them: what a bot's settings need."""

    api_url: str
    api_token: str
    slack_api_url: str
    slack_bot_token: str
    slack_app_token: str
    slack_signing_secret: str
    page_url: str


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The two services, running within `async with`."""

    merge_queue: MergeQueueSandbox
    slack: SlackSandbox
    slack_port: int = 0  #: 0 lets the system choose. Raises OSError when a port is taken.

    async def __aenter__(self) -> Self:
        await self.slack.start(port=self.slack_port)
        try:
            await self.merge_queue.start()
        except BaseException:
            await self.slack.stop()
            raise
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.merge_queue.stop()
        await self.slack.stop()

    @property
    def addresses(self) -> SandboxAddresses:
        return SandboxAddresses(
            api_url=self.merge_queue.base_url,
            api_token=self.merge_queue.token,
            slack_api_url=self.slack.api_url,
            slack_bot_token=self.slack.bot_token,
            slack_app_token=self.slack.app_token,
            slack_signing_secret=self.slack.signing_secret,
            page_url=self.slack.url,
        )
