"""Which questions are open, known to all processes on one database."""

from bot.desk.meant import ask_again, take_questions
from bot.desk.question import Asker, Question
from bot.desk.rows import Questions
from bot.store.transaction import Transaction
from tests.support.stored import NOW, after

ALICE = Asker("U0ALICE", "C1")
BOB = Asker("U0BOB", "C1")
HOME = Asker("U0ALICE", None)


def opened(transaction: Transaction, asker: Asker, verb: str, typed: str) -> Question:
    question = Question(asker, verb, typed)
    Questions(transaction).add(question, after(900))
    return question


def open_now(transaction: Transaction, asker: Asker, now: float = 0) -> set[str]:
    return {question.typed for question in Questions(transaction).open(asker, after(now))}


def test_a_question_is_of_one_person_channel_and_command(transaction: Transaction) -> None:
    pause = opened(transaction, ALICE, "pause", "pause 100% _down_ 'now'")
    for asker in (ALICE, BOB, HOME):
        opened(transaction, asker, "resume", "resume")
    taken = take_questions(transaction, ALICE, "pause", NOW)
    assert taken == {pause: None}
    assert open_now(transaction, ALICE) == {"resume"}
    assert open_now(transaction, BOB) == {"resume"}
    assert open_now(transaction, HOME) == {"resume"}
    assert take_questions(transaction, ALICE, "pause", NOW) == {}


def test_signs_that_mean_more_to_a_database_are_signs(transaction: Transaction) -> None:
    opened(transaction, Asker("U_ALICE", "C%"), "pause", "pause x")
    assert open_now(transaction, Asker("UXALICE", "CAB")) == set()


def test_a_question_knows_its_message_while_it_is_open(transaction: Transaction) -> None:
    question = opened(transaction, ALICE, "pause", "pause x")
    Questions(transaction).shown(question, 1_795_871_937_388_625)
    assert take_questions(transaction, ALICE, "pause", NOW) == {question: 1_795_871_937_388_625}
    Questions(transaction).shown(question, 1_795_871_937_388_626)
    assert open_now(transaction, ALICE) == set()
    ask_again(transaction, [question], after(900))
    assert open_now(transaction, ALICE) == {"pause x"}


def test_a_question_is_open_for_its_time(transaction: Transaction) -> None:
    opened(transaction, ALICE, "pause", "pause x")
    assert open_now(transaction, ALICE, 899) == {"pause x"}
    assert open_now(transaction, ALICE, 901) == set()
