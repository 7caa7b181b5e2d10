"""The views people have open: a stack of modals each, and the Home tab published for them."""

import itertools
import random
import time
from dataclasses import dataclass, field

from bot.sandbox.slack.block_kit.form_state import Values, carried_over, initial_values
from bot.sandbox.slack.state.workspace import Change, Workspace
from bot.sandbox.slack.wire import Json, SlackRefusal

STACK_LIMIT = 3
_UPDATES_KEPT = 100


@dataclass
class View:
    """One view of one person, with what they have entered so far."""

    id: str
    user: str
    content: Json
    hash: str
    root_id: str
    previous_id: str | None = None
    values: Values = field(default_factory=dict)
    shown_before: list[list[Json]] = field(default_factory=list)
    """The blocks before the latest updates, which a client that is slow to redraw still shows."""

    @property
    def blocks(self) -> list[Json]:
        blocks: list[Json] = self.content["blocks"]
        return blocks

    @property
    def drawn(self) -> list[Json]:
        """As a message says it: all blocks."""
        return self.blocks


class Views:
    """Opens, pushes, updates, publishes and closes views by Slack's rules."""

    def __init__(self, workspace: Workspace, chance: random.Random) -> None:
        self._workspace = workspace
        self._chance = chance
        self._serial = itertools.count(1)
        self._stacks: dict[str, list[View]] = {}
        self._homes: dict[str, View] = {}

    def stack(self, user: str) -> list[View]:
        """List a person's open modals, the top one last."""
        return list(self._stacks.get(user, ()))

    def home(self, user: str) -> View | None:
        return self._homes.get(user)

    def find(self, view_id: str) -> View | None:
        return next((each for each in self._open_views() if each.id == view_id), None)

    def find_external(self, external_id: str) -> View | None:
        wanted = (e for e in self._open_views() if e.content["external_id"] == external_id)
        return next(wanted, None)

    def _open_views(self) -> list[View]:
        stacked = itertools.chain.from_iterable(self._stacks.values())
        return [*stacked, *self._homes.values()]

    def open(self, user: str, content: Json) -> View:
        """Open a first modal; one that stood open before gives way to it.

        Raises SlackRefusal: `duplicate_external_id`.
        """
        self._refuse_known_external_id(content)
        view = self._new(user, content)
        self._stacks[user] = [view]
        self._tell("view", user)
        return view

    def push(self, user: str, content: Json) -> View:
        """Put a modal on top of the open ones.

        Raises SlackRefusal: `push_limit_reached` past three, `not_found` when none is open,
        `duplicate_external_id`.
        """
        stack = self._stacks.get(user)
        if not stack:
            raise SlackRefusal("not_found")
        if len(stack) >= STACK_LIMIT:
            raise SlackRefusal("push_limit_reached")
        self._refuse_known_external_id(content)
        view = self._new(user, content)
        view.root_id = stack[0].id
        view.previous_id = stack[-1].id
        stack.append(view)
        self._tell("view", user)
        return view

    def update(self, view: View, content: Json, expected_hash: str | None = None) -> View:
        """Give a view new content; inputs whose ids stay keep what was entered.

        Raises SlackRefusal: `hash_conflict` when `expected_hash` is not the present hash,
        `duplicate_external_id`.
        """
        if expected_hash and expected_hash != view.hash:
            raise SlackRefusal("hash_conflict")
        self._refuse_known_external_id(content, besides=view)
        view.shown_before = [view.blocks, *view.shown_before][:_UPDATES_KEPT]
        view.values = carried_over(content["blocks"], view.values)
        view.content = content
        view.hash = self._new_hash()
        self._tell("home" if content["type"] == "home" else "view", view.user)
        return view

    def publish(self, user: str, content: Json, expected_hash: str | None = None) -> View:
        """Publish a person's Home tab, whose view keeps its id from then on.

        Raises SlackRefusal: `hash_conflict`, `duplicate_external_id`.
        """
        existing = self._homes.get(user)
        if existing is not None:
            return self.update(existing, content, expected_hash)
        if expected_hash:
            raise SlackRefusal("hash_conflict")
        self._refuse_known_external_id(content)
        view = self._new(user, content)
        self._homes[user] = view
        self._tell("home", user)
        return view

    def close(self, view: View) -> list[View]:
        """Close a modal, and all of its stack if it says so; give what was closed, top first."""
        stack = self._stacks.get(view.user, [])
        if view not in stack:
            return []
        place = 0 if view.content["clear_on_close"] else stack.index(view)
        closed = stack[place:][::-1]
        del stack[place:]
        self._tell("view", view.user)
        return closed

    def clear(self, user: str) -> list[View]:
        """Close all of a person's modals; give what was closed, top first."""
        closed = self._stacks.pop(user, [])[::-1]
        self._tell("view", user)
        return closed

    def pop(self, view: View) -> None:
        """Take a submitted modal away; the one below shows again."""
        stack = self._stacks.get(view.user, [])
        if view in stack:
            stack.remove(view)
            self._tell("view", view.user)

    def _new(self, user: str, content: Json) -> View:
        view_id = f"V0{next(self._serial):08d}"
        values = initial_values(content["blocks"])
        return View(view_id, user, content, self._new_hash(), root_id=view_id, values=values)

    def _new_hash(self) -> str:
        return f"{int(time.time())}.{self._chance.getrandbits(32):08x}"

    def _refuse_known_external_id(self, content: Json, besides: View | None = None) -> None:
        external_id = content["external_id"]
        if external_id and self.find_external(external_id) not in (None, besides):
            raise SlackRefusal("duplicate_external_id")

    def _tell(self, kind: str, user: str) -> None:
        self._workspace.notify(Change(kind, users=frozenset({user})))
