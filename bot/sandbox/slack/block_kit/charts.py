"""Charts, held to what Slack publishes of them.

https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block
"""

from collections.abc import Mapping
from typing import Any

from bot.sandbox.slack.block_kit.schema import Check, Problems, Shape, items, string, typed
from bot.sandbox.slack.block_kit.text_objects import of_type

MOST_SERIES = 6
MOST_POINTS = 20
LABEL = string(20)


def number(value: object, pointer: str, problems: Problems) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        problems.add("must provide a number", pointer)


def _drawn(shape: Check) -> Check:
    """Accept series of different names that have one point for each category, in any order."""

    def check(value: object, pointer: str, problems: Problems) -> None:
        before = len(problems.found)
        shape(value, pointer, problems)
        if len(problems.found) > before or not isinstance(value, dict):
            return
        names = [series["name"] for series in value["series"]]
        if len(set(names)) < len(names):
            problems.add("series names must be unique", f"{pointer}/series")
        wanted = sorted(value["axis_config"]["categories"])
        for index, series in enumerate(value["series"]):
            if sorted(_labels(series)) != wanted:
                problems.add(
                    "data labels must match axis_config.categories", f"{pointer}/series/{index}"
                )

    return check


def _labels(series: Mapping[str, Any]) -> list[str]:
    return [point["label"] for point in series["data"]]


_POINT = Shape({"label": LABEL, "value": number})
_SERIES = Shape({"name": LABEL, "data": items(_POINT, MOST_POINTS)})
_AXES = Shape(
    {"categories": items(LABEL, MOST_POINTS)}, {"x_label": string(50), "y_label": string(50)}
)


_FIELDS_ON_AXES: Mapping[str, Check] = {
    "series": items(_SERIES, MOST_SERIES),
    "axis_config": _AXES,
}


CHART: Check = typed(
    {
        "pie": of_type({"segments": items(_POINT, MOST_SERIES)}),
        "bar": _drawn(of_type(_FIELDS_ON_AXES)),
        "area": _drawn(of_type(_FIELDS_ON_AXES)),
        "line": _drawn(of_type(_FIELDS_ON_AXES)),
    }
)
