"""The subject of the live messages about a storm."""

from bot.posts.live_message import LiveKind, LiveSubject
from bot.storms.storm import FailureStorm


def storm_subject(storm: FailureStorm) -> LiveSubject:
    return LiveSubject(LiveKind.STORM, storm.repository, storm.key)
