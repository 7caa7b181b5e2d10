"""The words of checks that don't start, start late, hang, or are done."""

from datetime import timedelta

from bot.blocks.text import code, duration, listed, local_time, quote, within
from bot.doctor.diagnosis import Diagnosis, Done, Hangs, NeverStart, NotStarted, StartLate
from bot.doctor.past import Usual
from bot.doctor.texts.parts import CHECKS_NAMED, SAID_LIMIT, CauseInWords, checks

TIMES_OUT_SOON = timedelta(days=1)
"""A run that times out later won't be waited for."""


def never_start(found: NeverStart, diagnosis: Diagnosis) -> CauseInWords:
    since = local_time(found.since)
    match found.how:
        case NotStarted.REFUSED:
            said = quote(found.said.strip().rstrip("."), SAID_LIMIT)
            tried = f"The service has tried {found.times:,} times since {since}."
            words = f"It says: {said}." if said else ""
            who = "an administrator of the repository, then the service's support."
            return CauseInWords(f"the checks of #{found.number} don't start", (tried, words), who)
        case NotStarted.NO_CHECK:
            shown = f"Its batch has been in testing since {since}, and no check has shown up."
            usual = _usual_length("The first check", diagnosis.seen.past.first_check, "comes after")
            who = "the people who run CI: does it run on the queue's branches?"
            return CauseInWords(f"no check of #{found.number} has started", (shown, usual), who)
        case NotStarted.NO_BATCH:
            nothing = f"No checks have started or ended since {since}."
            who = "an administrator, who can check the queue rules, then the service's support."
            return CauseInWords("nothing is being tested", (nothing,), who)


def start_late(found: StartLate, _: Diagnosis) -> CauseInWords:
    who = "the people who run CI: are runners missing or busy?"
    waited = within(found.waited)
    usual = within(found.usual)
    if found.is_over:
        late = f"The last {found.batches:,} runs waited {waited} for their first check."
        return CauseInWords("checks start late", (late, f"Usual is {usual}."), who)
    none = f"{found.batches:,} batches are being tested, and no check has passed for {waited}."
    whole = f"A whole run usually takes {usual}."
    return CauseInWords("no check passes in any batch", (none, whole), who)


def hangs(found: Hangs, diagnosis: Diagnosis) -> CauseInWords:
    names = checks(found.names)
    since = local_time(found.since)
    running = f"The run began {since}. No result yet: {names}."
    usual = _usual_length("A whole run", diagnosis.seen.past.check_run, "takes")
    end = ""
    if found.times_out_at is not None and found.times_out_at - diagnosis.at <= TIMES_OUT_SOON:
        end = f"The run times out {local_time(found.times_out_at)}."
    cause = f"the checks of #{found.number} take far longer than usual"
    return CauseInWords(cause, (running, usual, end), f"the owners of {names}.")


def _usual_length(what: str, usual: Usual, verb: str) -> str:
    if usual.is_known:
        return f"{what} usually {verb} {within(usual.median)}."
    long = duration(usual.default)
    return f"I've seen too few runs to know what is usual, so more than {long} counts as long."


def done(found: Done, _: Diagnosis) -> CauseInWords:
    cause = f"the checks of #{found.number} are done and it isn't merged"
    ended = "All its checks have passed."
    if found.since is not None:
        ended = f"They passed {local_time(found.since)}."
    if not found.unmet:
        return CauseInWords(cause, (ended,), "the service's support.")
    unmet = f"Not met: {listed([code(label) for label in found.unmet], most=CHECKS_NAMED)}."
    who = f"the author of #{found.number}, or its reviewers."
    return CauseInWords(cause, (ended, unmet), who)
