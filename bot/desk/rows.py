"""Open questions: which queue somebody means by what they typed."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import and_, select

from bot.desk.question import Asker, Question
from bot.desk.tables import questions
from bot.store.statements import Condition, Part, as_row, from_row


class Questions(Part):
    """Questions that are open in any process, until they are answered or too old."""

    def add(self, question: Question, until: datetime) -> None:
        """Remember that it is asked; in which message is not known yet."""
        asker = question.asker
        row = as_row(
            questions,
            question,
            user_id=asker.user_id,
            channel_id=_place_of(asker),
            until=until,
            message=None,
        )
        self._put(questions, row)

    def shown(self, question: Question, message: int) -> None:
        """Remember in which message it is asked; nothing if it has been answered since."""
        self._change(questions, _is(question), message=message)

    def open(
        self, asker: Asker, now: datetime, verb: str | None = None
    ) -> Mapping[Question, int | None]:
        """Those asked of a person in a channel, with their messages as far as they are known.

        `verb`: only those asked for this command.
        """
        which = [_is_of(asker), now < questions.c.until]
        if verb is not None:
            which.append(questions.c.verb == verb)
        rows = self._run(select(questions).where(*which).order_by(questions.c.typed))
        return {from_row(Question, row, asker=asker): row.message for row in rows}

    def close(self, question: Question) -> bool:
        """Whether it was open until now."""
        return self._remove(questions, _is(question)) > 0


def _place_of(asker: Asker) -> str:
    return asker.channel_id or ""


def _is_of(asker: Asker) -> Condition:
    return and_(
        questions.c.user_id == asker.user_id,
        questions.c.channel_id == _place_of(asker),
    )


def _is(question: Question) -> Condition:
    return and_(
        _is_of(question.asker),
        questions.c.verb == question.verb,
        questions.c.typed == question.typed,
    )
