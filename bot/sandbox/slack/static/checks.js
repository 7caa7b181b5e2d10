// Shows checkboxes and radio buttons.

import { el, uniqueId } from "./dom.js";
import { renderText } from "./mrkdwn.js";

export const renderCheckboxes = (element, block, surface, names) =>
  renderChecks("checkbox", element, block, surface, names);
export const renderRadioButtons = (element, block, surface, names) =>
  renderChecks("radio", element, block, surface, names);

function renderChecks(type, element, block, surface, names) {
  const many = type === "checkbox";
  const options = element.options ?? [];
  const kept = surface.kept(block, element);
  const start = many
    ? (kept?.selected_options ?? element.initial_options ?? [])
    : [kept ? kept.selected_option : element.initial_option].filter(Boolean);
  let before = new Set(start.map((option) => option.value));
  const group = uniqueId("checks");
  const boxes = options.map((option, index) =>
    el("input", {
      type,
      name: group,
      id: `${group}-${index}`,
      checked: before.has(option.value),
      dataset: { focus: `${surface.focusKey(block, element)}/${index}` },
    }),
  );
  const fields = () => {
    const chosen = options.filter((_, index) => boxes[index].checked);
    return many ? { selected_options: chosen } : { selected_option: chosen[0] ?? null };
  };
  surface.register(block, element, fields);
  const node = el(
    "div",
    {
      class: "checks",
      role: many ? "group" : "radiogroup",
      "aria-labelledby": names.label,
      "aria-describedby": [names.hint, names.error].filter(Boolean).join(" ") || null,
      "aria-label": names.label ? null : many ? "Checkboxes" : "Options",
      dataset: { action: element.action_id ?? "" },
    },
    options.map((option, index) => row(option, boxes[index], surface)),
  );
  node.addEventListener("change", async () => {
    if (await surface.changed(block, element, fields(), node))
      before = new Set(
        options.filter((_, index) => boxes[index].checked).map((option) => option.value),
      );
    else {
      for (const [index, option] of options.entries()) {
        boxes[index].checked = before.has(option.value);
      }
    }
  });
  if (element.focus_on_load && boxes[0]) boxes[0].dataset.first = "";
  return node;
}

function row(option, box, surface) {
  return el(
    "label",
    { class: "check", for: box.id },
    box,
    el(
      "span",
      { class: "menu-words" },
      el("span", {}, renderText(option.text, surface.directory)),
      option.description &&
        el("span", { class: "menu-detail" }, renderText(option.description, surface.directory)),
    ),
  );
}
