"""A post to a channel: CPU, and whether a connection is opened for it."""

from collections.abc import Sequence

from tests.bench.figures import Extent, Figures, Row
from tests.bench.program import Program, by_turns, running, running_both
from tests.bench.services.slack import SlackService


async def rows(extent: Extent) -> Sequence[Row]:
    amount = extent.scaled(300, 100)
    async with (
        SlackService() as our_slack,
        SlackService() as their_slack,
        running_both(
            running("ours.posts", environ={"SLACK_API_URL": our_slack.api_url}),
            running("floors.plain_posts", environ={"SLACK_API_URL": their_slack.api_url}),
        ) as (ours, floor),
    ):
        opened: list[int] = []

        async def play(program: Program) -> Figures:
            before = len(our_slack.connections)
            figures = await program.play(amount)
            if program is ours:
                opened.append(len(our_slack.connections) - before)
            return figures

        rounds = await by_turns(ours, floor, play, extent)
    assert our_slack.calls["chat.postMessage"] == amount * (extent.rounds + 1)
    # The first round is the one that warms up.
    connections = sum(opened[1:])
    return [
        rounds.row("post, CPU", "cpu", unit="ms", goal=1.3),
        Row("connections opened by posts in steady state", "", connections, None, connections, 0),
    ]
