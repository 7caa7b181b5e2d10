// Draws charts as bars with their figures, so that nothing has to be read from a height or a
// colour.

import { el } from "./dom.js";
import { renderPlain } from "./mrkdwn.js";

/** Lines and areas are drawn as bars too: what they say is the same. */
export function renderChart(block) {
  const chart = block.chart ?? {};
  const series =
    chart.type === "pie"
      ? [{ name: block.title, data: chart.segments ?? [] }]
      : (chart.series ?? []);
  const labels =
    chart.type === "pie"
      ? (chart.segments ?? []).map((one) => one.label)
      : (chart.axis_config?.categories ?? []);
  const most = Math.max(
    1,
    ...series.flatMap((one) => one.data ?? []).map((point) => Number(point.value) || 0),
  );
  const columns = labels.map((label) =>
    el(
      "li",
      {
        class: "chart-column",
        "aria-label": `${label}: ${series.map((one) => `${valueAt(one, label)} ${one.name}`).join(", ")}`,
      },
      el(
        "div",
        { class: "chart-bars", "aria-hidden": "true" },
        series.map((one, index) => bar(valueAt(one, label), most, index)),
      ),
      el("div", { class: "chart-label", "aria-hidden": "true" }, label),
    ),
  );
  const legend =
    series.length > 1 &&
    el(
      "div",
      { class: "chart-legend", "aria-hidden": "true" },
      series.map((one, index) =>
        el(
          "span",
          { class: "chart-key" },
          el("span", { class: `chart-swatch chart-series-${index}` }),
          one.name,
        ),
      ),
    );
  return el(
    "figure",
    { class: "block chart", "aria-label": block.title ?? "Chart" },
    el("figcaption", { class: "chart-title" }, renderPlain(block.title)),
    legend,
    el(
      "div",
      { class: "chart-frame", tabindex: 0, role: "region", "aria-label": "Chart" },
      el("ol", { class: "chart-columns" }, columns),
    ),
  );
}

function valueAt(series, label) {
  return (series.data ?? []).find((point) => point.label === label)?.value ?? 0;
}

function bar(value, most, index) {
  const node = el("div", { class: `chart-bar chart-series-${index}` });
  node.style.height = `${Math.max((Math.max(Number(value) || 0, 0) / most) * 100, 1)}%`;
  return el("div", { class: "chart-slot" }, el("span", { class: "chart-value" }, value), node);
}
