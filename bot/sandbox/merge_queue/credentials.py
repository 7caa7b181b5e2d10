"""Who calls: application keys and personal tokens, and what each may reach."""

from dataclasses import dataclass
from uuid import NAMESPACE_URL, uuid5

from bot.sandbox.merge_queue.simulation.state import Actor


class Refusal(Exception):
    """An answer with an error status and a `detail` for its body: a sentence, or a list of errors.

    A hosted service that validates with FastAPI lists what is wrong with parameters and bodies
    (https://fastapi.tiangolo.com/tutorial/handling-errors/).
    """

    def __init__(self, status: int, detail: str | list[dict[str, object]]) -> None:
        super().__init__(status, detail)
        self.status = status
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Credential:
    """A Bearer token the service knows (API document, Authentication).

    `kind` is `application` (with `scope` `admin` or `ci`) or `personal` (which may write only with
    `may_write`). `owners` are the accounts it reaches, `repositories` narrows that to some of
    theirs; None means all.
    """

    token: str
    kind: str = "application"
    scope: str = "admin"
    name: str = "mqbot"
    id: int = 4711
    account: str = "acme"
    owners: frozenset[str] | None = None
    repositories: frozenset[str] | None = None
    may_write: bool = True

    @property
    def uuid(self) -> str:
        return str(uuid5(NAMESPACE_URL, f"application:{self.id}"))

    @property
    def actor(self) -> Actor:
        """Give the identity that pause events carry."""
        if self.kind == "application":
            return Actor("application", self.uuid, self.name)
        return Actor("user", self.id, self.name)


def identify(authorization: str | None, known: dict[str, Credential]) -> Credential:
    """Find who calls; raise a 401 refusal without a Bearer token the service knows."""
    kind, _, token = (authorization or "").partition(" ")
    credential = known.get(token.strip())
    if kind.lower() != "bearer" or credential is None:
        raise Refusal(401, "A valid Bearer token is required")
    return credential


def require_application(credential: Credential) -> None:
    """Raise a 403 refusal for anything but an application key."""
    if credential.kind != "application":
        raise Refusal(403, "This endpoint only accepts application keys")


def require_access(credential: Credential, repository: str, *, write: bool) -> None:
    """Raise a 403 refusal when the credential may not read, or change, this repository."""
    if credential.kind == "application" and credential.scope != "admin":
        raise Refusal(403, "The application key needs the scope 'admin'")
    owner = repository.partition("/")[0]
    outside = credential.owners is not None and owner not in credential.owners
    hidden = credential.repositories is not None and repository not in credential.repositories
    if outside or hidden:
        raise Refusal(403, "You do not have access to this repository")
    if write and not credential.may_write:
        raise Refusal(403, "You need the write permission on this repository")
