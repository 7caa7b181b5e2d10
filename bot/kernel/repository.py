"""The name of a repository, within the API document's limits."""

import re
from typing import Any, Self

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from bot.kernel.errors import InvalidRequest

OWNER_MAX_LENGTH = 40
"""API document, Limits: `owner` has 1 to 40 characters."""

NAME_MAX_LENGTH = 100
"""The code host's own limit; the whole name fits into the value of a menu's option in Slack."""

_OWNER = re.compile(rf"[a-zA-Z0-9\-]{{1,{OWNER_MAX_LENGTH}}}", re.ASCII)
_REPOSITORY = re.compile(rf"[\w\-.]{{1,{NAME_MAX_LENGTH}}}", re.ASCII)


class RepositoryName(str):
    r"""A repository as "owner/name".

    It is a `str`, so that it can be stored, compared and shown directly. Create one with `parse`,
    which enforces the path parameters of the API document: owner 1 to 40 of
    `[a-zA-Z0-9-]`, name 1 to 100 of `[\w.-]`. It also refuses the names "." and "..", which match
    that pattern but would change the path of the request.
    """

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raise InvalidRequest when `text` is not "owner/name"."""
        owner, slash, name = text.partition("/")
        if not slash:
            raise InvalidRequest(None, "a repository is written owner/name")
        if not _OWNER.fullmatch(owner):
            raise InvalidRequest(None, "the owner has 1 to 40 letters, digits or hyphens")
        if not _REPOSITORY.fullmatch(name) or name in {".", ".."}:
            raise InvalidRequest(
                None,
                "the repository name has 1 to 100 letters, digits, underscores, hyphens or dots",
            )
        return cls(text)

    @classmethod
    def none(cls) -> Self:
        """In place of a repository, in the record of an act that concerns none."""
        return cls("")

    @property
    def owner(self) -> str:
        return self.partition("/")[0]

    @property
    def name(self) -> str:
        return self.partition("/")[2]

    @classmethod
    def __get_pydantic_core_schema__(
        cls, _source: type[Any], _handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(cls.parse, core_schema.str_schema())
