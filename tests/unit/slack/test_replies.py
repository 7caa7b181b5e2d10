"""What a refused answer is counted as."""

import pytest

from bot.slack.replies import refusal_code


@pytest.mark.parametrize(
    ("said", "status", "code"),
    [
        ('{"ok": false, "error": "expired_url"}', 200, "expired_url"),
        ("used_url", 404, "used_url"),
        ("no_text\n", 500, "no_text"),
        ("", 502, "http_502"),
        ("<html>Bad gateway for acme/site</html>", 502, "http_502"),
        ('{"ok": false, "error": "acme/site"}', 200, "http_200"),
    ],
)
def test_a_code_is_slacks_own_word_or_the_status(said: str, status: int, code: str) -> None:
    assert refusal_code(said, status) == code
