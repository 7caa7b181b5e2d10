"""Small checks that say, as Slack does, what is wrong in a JSON value and at which pointer."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field


@dataclass
class Problems:
    """What was found wrong, each with the JSON pointer of its place."""

    found: list[tuple[str, str]] = field(default_factory=list)

    def add(self, message: str, pointer: str) -> None:
        self.found.append((message, pointer))

    def sentences(self) -> list[str]:
        return [f"{message} [json-pointer:{pointer}]" for message, pointer in self.found]


Check = Callable[[object, str, Problems], None]


@dataclass(frozen=True)
class Shape:
    """The fields of an object: those it must have, and those it may have."""

    required: Mapping[str, Check] = field(default_factory=dict)
    optional: Mapping[str, Check] = field(default_factory=dict)

    def __call__(self, value: object, pointer: str, problems: Problems) -> None:
        if not isinstance(value, dict):
            problems.add("must provide an object", pointer)
            return
        for name in self.required:
            if value.get(name) is None:
                problems.add(f"missing required field: {name}", pointer)
        for name, content in value.items():
            check = self.required.get(name) or self.optional.get(name)
            if check is None:
                problems.add(f"invalid additional property: {name}", pointer)
            elif content is not None:
                check(content, f"{pointer}/{name}", problems)


def string(maximum: int, minimum: int = 1) -> Check:
    """Accept text of `minimum` to `maximum` characters."""

    def check(value: object, pointer: str, problems: Problems) -> None:
        if not isinstance(value, str):
            problems.add("must provide a string", pointer)
        elif len(value) > maximum:
            problems.add(f"must be less than {maximum + 1} characters", pointer)
        elif len(value) < minimum:
            problems.add(f"must be more than {minimum - 1} characters", pointer)

    return check


def boolean(value: object, pointer: str, problems: Problems) -> None:
    if not isinstance(value, bool):
        problems.add("must provide a boolean", pointer)


def integer(minimum: int, maximum: int) -> Check:
    """Accept a whole number between the two, both included."""

    def check(value: object, pointer: str, problems: Problems) -> None:
        if isinstance(value, bool) or not isinstance(value, int):
            problems.add("must provide an integer", pointer)
        elif value < minimum:
            problems.add(f"must be greater than {minimum - 1}", pointer)
        elif value > maximum:
            problems.add(f"must be less than {maximum + 1}", pointer)

    return check


def anything(_value: object, _pointer: str, _problems: Problems) -> None:
    """Accept any value: a field whose content Slack doesn't document."""


def one_of(*allowed: str) -> Check:
    def check(value: object, pointer: str, problems: Problems) -> None:
        if value not in allowed:
            problems.add(f"must be one of: {', '.join(allowed)}", pointer)

    return check


def items(check_item: Check, maximum: int, minimum: int = 1) -> Check:
    """Accept a list of `minimum` to `maximum` values that each pass."""

    def check(value: object, pointer: str, problems: Problems) -> None:
        if not isinstance(value, list):
            problems.add("must provide an array", pointer)
            return
        if len(value) > maximum:
            problems.add(f"no more than {maximum} items allowed", pointer)
            return
        if len(value) < minimum:
            problems.add(f"must have at least {minimum} item(s)", pointer)
        for index, item in enumerate(value):
            check_item(item, f"{pointer}/{index}", problems)

    return check


def typed(shapes: Mapping[str, Check], allowed: Collection[str] | None = None) -> Check:
    """Accept an object whose `type` is one of the known shapes, and of those `allowed` here."""
    known = [each for each in shapes if allowed is None or each in allowed]

    def check(value: object, pointer: str, problems: Problems) -> None:
        if not isinstance(value, dict):
            problems.add("must provide an object", pointer)
            return
        kind = value.get("type")
        if kind is None:
            problems.add("missing required field: type", pointer)
        elif kind not in known:
            problems.add(f"unsupported type: {kind}", f"{pointer}/type")
        else:
            shapes[str(kind)](value, pointer, problems)

    return check


def exactly_one(shape: Shape, *names: str) -> Check:
    """Accept the shape when exactly one of the named fields is given."""

    def check(value: object, pointer: str, problems: Problems) -> None:
        shape(value, pointer, problems)
        if isinstance(value, dict) and sum(value.get(each) is not None for each in names) != 1:
            problems.add(f"must define exactly one of: {', '.join(names)}", pointer)

    return check


def at_least_one(shape: Shape, *names: str) -> Check:
    """Accept the shape when one or more of the named fields are given."""

    def check(value: object, pointer: str, problems: Problems) -> None:
        shape(value, pointer, problems)
        if isinstance(value, dict) and not any(value.get(each) for each in names):
            wanted = " or ".join(f"`{each}`" for each in names)
            problems.add(f"must define either {wanted}", pointer)

    return check
