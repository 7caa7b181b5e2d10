"""`python -m tests.documentation`: writes the pages, tables and schemas that repeat the code."""

import html
import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import partial
from inspect import getdoc, signature
from pathlib import Path

import yaml
from aiohttp.web import RouteDef
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.parser import text_string_to_metric_families
from pydantic.fields import FieldInfo
from typing_extensions import override

from bot.config.reading import RELOADED, description
from bot.config.settings import Settings, variable
from bot.desk.table import COMMANDS
from bot.feed.texts.event_posts import in_words
from bot.feed.topics import topic_of
from bot.kernel.metrics import Metrics, OutboxReading, OutboxSummary
from bot.log.classification import classify
from bot.machines.document import document
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import DEQUEUE_CODES
from bot.runtime.monitoring import Monitoring
from bot.sandbox.merge_queue.control_api import ControlApi
from bot.sandbox.merge_queue.faults import EFFECTS
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.slack.control.arrangement_api import ArrangementApi
from bot.sandbox.slack.control.stage import StageApi
from bot.sandbox.slack.faults import EFFECT_ON_CALLS, EFFECT_ON_SOCKETS
from bot.sandbox.slack.server import SlackSandbox
from tests.support.clock import FakeClock
from tests.support.event_samples import TYPES, leave_with, sample_record
from tests.support.first_release import postgresql_schema, sqlite_schema
from tests.support.message_page import every_message_page
from tests.support.settings import ENOUGH, settings_in

ROOT = Path(__file__).parents[1]
ALERTS = ROOT / "docs" / "operations" / "alerts.yml"
COMMAND = "/mq"
DATE = re.compile(r"<!date\^[^|]*\|([^>]*)>")
"""A time as Slack shows it to each reader, and in UTC for others."""


def settings_table() -> str:
    """Every setting of bot/config, required ones first."""
    fields = sorted(Settings.model_fields.items(), key=lambda one: not one[1].is_required())
    rows = [
        [
            f"`{variable(name)}`",
            description(variable(name)),
            _default(field),
            "yes" if name in RELOADED else "",
        ]
        for name, field in fields
    ]
    return _table(["Variable", "What it takes", "Default", "Reload"], rows)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "**required**"
    if field.default_factory is not None:
        return "see left"
    if field.default in (None, (), {}):
        return "none"
    if isinstance(field.default, bool):
        return f"`{str(field.default).lower()}`"
    if isinstance(field.default, float):
        return f"`{field.default:g}`"
    return f"`{field.default}`"


def verbs_table() -> str:
    """every row of the command table."""
    rows = [
        f"| `{_cell(f'{COMMAND} {verb.usage}')}` | {_cell(verb.task)} | {_aliases(verb.aliases)} |"
        for verb in COMMANDS
    ]
    return "\n".join(["| Typed | Does | Also |", "|---|---|---|", *rows])


def _aliases(aliases: tuple[str, ...]) -> str:
    return ", ".join(f"`{COMMAND} {alias}`" for alias in aliases)


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def events_table() -> str:
    """The types of events of each topic."""
    types_of: dict[str, list[str]] = {}
    for event_type in TYPES:
        topic = topic_of(classify(sample_record(event_type, "full")))
        if topic is not None:
            types_of.setdefault(topic.value, []).append(f"`{event_type}`")
    rows = [[f"`{topic}`", ", ".join(types)] for topic, types in sorted(types_of.items())]
    return _table(["Topic", "Events"], rows)


def codes_table() -> str:
    """The message of a leave with each code, in one table for each beginning and topic."""
    tables: dict[str, list[list[str]]] = {}
    for code in DEQUEUE_CODES:
        leave = leave_with(code)
        beginning, _, rest = _reported(leave).partition(": ")
        topic = topic_of(classify(leave))
        head = f"{beginning}: … (`{topic.value}`)" if topic else f"{beginning}: …"
        tables.setdefault(head, []).append([f"`{code}`", rest])
    return "\n\n".join(_table(["Code", head], rows) for head, rows in tables.items())


def _reported(record: EventRecord) -> str:
    """The text without markup, as in a post."""
    said = DATE.sub(r"\1", in_words(record))
    return html.unescape(said).replace("`", "'")


class UnreadMetrics(Metrics):
    """Every gauge that is watched reads zero: nothing is asked for its value."""

    @override
    def watch(self, name: str, help_text: str, read: Callable[[], float | None]) -> None:
        super().watch(name, help_text, lambda: 0.0)


def every_metric() -> str:
    """A scrape of a process that has every metric, each with all of its labels."""
    monitoring = Monitoring(settings_in(ENOUGH, Settings), FakeClock())
    monitoring.metrics = UnreadMetrics()
    for name in dir(Monitoring):
        if name.startswith("watch"):
            watch = getattr(monitoring, name)
            watch(*(None for _ in signature(watch).parameters))
    # Their values come from a database.
    monitoring._reading = OutboxReading(OutboxSummary(0, 0, 0, None, ()), datetime.now(UTC))
    for metric in vars(monitoring.metrics).values():
        if isinstance(metric, MetricWrapperBase) and metric._labelnames:
            metric.labels(*metric._labelnames)
    return monitoring.metrics.render().decode()


def metrics_table() -> str:
    """Every metric of `/metrics`, as a query names it."""
    rows = []
    for family in text_string_to_metric_families(every_metric()):
        # The second family of a counter says when it began to count.
        if family.name.endswith("_created"):
            continue
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels = {label for sample in family.samples for label in sample.labels} - {"le"}
        shown = ", ".join(f"`{label}`" for label in sorted(labels))
        rows.append([f"`{name}`", family.type, shown, family.documentation])
    return _table(["Metric", "Type", "Labels", "Meaning"], rows)


def control_table(routes: Iterable[RouteDef], under: str) -> str:
    """The control requests below a path, with what their handlers say that they take."""
    rows = [
        [f"`{route.method} {_shown(route.path)}`", _sentences(route.handler)]
        for route in routes
        if route.path.startswith(under)
    ]
    return _table(["Request", "What it does"], rows)


def _shown(path: str) -> str:
    """A path as people read it: `{id}` in capitals, without its pattern."""
    return re.sub(r"\{(\w+)(?::[^/]*\})?\}?", lambda found: found[1].upper(), path)


def _sentences(handler: object) -> str:
    return " ".join((getdoc(handler) or "").split())


def slack_control_table() -> str:
    sandbox = SlackSandbox(ROOT / "manifest.yml")
    stage = StageApi(lambda: sandbox.stage)
    parts = (sandbox._control, ArrangementApi(sandbox.arrangement), stage, sandbox._page)
    routes = [route for part in parts for route in part.routes()]
    return control_table(routes, "/control")


def service_control_table() -> str:
    sandbox = MergeQueueSandbox(repositories={"acme/site": "quiet"})
    return control_table(ControlApi(sandbox).routes(), "/sandbox")


def faults_table(effects: Mapping[str, str]) -> str:
    return _table(["Fault", "Effect"], [[f"`{name}`", effect] for name, effect in effects.items()])


def alerts_table() -> str:
    """What to do at each alert, as its own annotation says."""
    groups = yaml.safe_load(ALERTS.read_text())["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    rows = [
        [f"`{rule['alert']}`", rule["labels"]["severity"], _linked(rule["annotations"])]
        for rule in rules
    ]
    return _table(["Alert", "", "What to do"], rows)


def _linked(annotations: Mapping[str, str]) -> str:
    """An address of a page in the text becomes a link to it."""
    description = annotations["description"].strip()
    return re.sub(r"\(docs/operations/(?:README\.md)?(\S+)\)", r"([how](\1))", description)


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *([_cell(one) for one in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


TABLES: Mapping[str, tuple[Path, Callable[[], str]]] = {
    "settings": (ROOT / "docs" / "configuration.md", settings_table),
    "verbs": (ROOT / "docs" / "commands.md", verbs_table),
    "events": (ROOT / "docs" / "messages.md", events_table),
    "codes": (ROOT / "docs" / "messages.md", codes_table),
    "slack-control": (ROOT / "docs" / "sandbox.md", slack_control_table),
    "slack-faults": (
        ROOT / "docs" / "sandbox.md",
        partial(faults_table, {**EFFECT_ON_CALLS, **EFFECT_ON_SOCKETS}),
    ),
    "service-control": (ROOT / "docs" / "sandbox.md", service_control_table),
    "service-faults": (ROOT / "docs" / "sandbox.md", partial(faults_table, EFFECTS)),
    "alerts": (ROOT / "docs" / "operations" / "README.md", alerts_table),
    "metrics": (ROOT / "docs" / "operations" / "metrics.md", metrics_table),
}

FIRST_RELEASE = ROOT / "tests" / "integration" / "migration_data" / "first_release"


def openapi_document() -> str:
    """What machines send and get, as the running bot describes it too."""
    return f"{json.dumps(document(), indent=2)}\n"


FILES = {
    ROOT / "docs" / "every-message.md": every_message_page,
    ROOT / "docs" / "openapi.json": openapi_document,
    FIRST_RELEASE / "sqlite.sql": sqlite_schema,
    FIRST_RELEASE / "postgresql.sql": postgresql_schema,
}
"""Written from the first word to the last."""


def with_table(document: str, name: str, table: str) -> str:
    """`document` with `table` between the marks of `name`; raises ValueError without them."""
    marks = re.compile(rf"(<!-- {name}: [^>]*-->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    written, count = marks.subn(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", document)
    if count != 1:
        msg = f"there is not exactly one place for the table of {name}"
        raise ValueError(msg)
    return written


def main() -> None:
    for path, written in FILES.items():
        path.write_text(written(), "utf-8")
    for name, (path, table) in TABLES.items():
        path.write_text(with_table(path.read_text(), name, table()))


if __name__ == "__main__":
    main()
