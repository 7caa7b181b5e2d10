"""The past of the repositories, played before the sandbox starts."""

from collections.abc import Mapping, Sequence
from random import Random

from bot.sandbox.merge_queue.simulation import scenarios, stepping
from bot.sandbox.merge_queue.simulation.moments import SECOND, Moment
from bot.sandbox.merge_queue.simulation.state import Repository, Service
from bot.sandbox.merge_queue.simulation.turn import Turn


def play(
    service: Service,
    made: Sequence[Repository],
    scenario_of: Mapping[str, str],
    start: Moment,
    random: Random,
) -> None:
    """Let each repository live for a while before the start, so that it has a past."""
    begins = sorted(
        (start - round(scenarios.history_seconds(scenario) * SECOND / service.speed), name)
        for name, scenario in scenario_of.items()
    )
    repositories = {repository.name: repository for repository in made}
    service.now = begins[0][0]
    for begin, name in begins:
        stepping.step(service, (begin - service.now) / SECOND, random)
        service.repositories[name] = repositories[name]
        turn = Turn(service, repositories[name], random)
        scenarios.begin(turn, scenario_of[name])
        stepping.settle(turn)
    stepping.step(service, (start - service.now) / SECOND, random)
    for name, repository in service.repositories.items():
        scenarios.prologue(Turn(service, repository, random), scenario_of[name])
