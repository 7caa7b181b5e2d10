// Shows text, number, e-mail and address fields, and pickers of dates and times.

import { el } from "./dom.js";

const KINDS = {
  plain_text_input: "text",
  number_input: "text",
  email_text_input: "email",
  url_text_input: "url",
};

/** Characters as people count them, not UTF-16 units. */
export const countCharacters = (text) => [...text].length;

function attributes(element, block, surface, names) {
  return {
    "aria-labelledby": names.label,
    "aria-label": names.label ? null : (element.placeholder?.text ?? "Text"),
    "aria-describedby": [names.hint, names.error].filter(Boolean).join(" ") || null,
    "aria-required": block.type === "input" && !block.optional ? "true" : null,
    "data-first": element.focus_on_load ? true : null,
    dataset: { focus: surface.focusKey(block, element), action: element.action_id ?? "" },
  };
}

export function renderTextInput(element, block, surface, names) {
  const start = surface.kept(block, element)?.value ?? element.initial_value ?? "";
  const shared = {
    class: "field-input",
    placeholder: element.placeholder?.text,
    autocomplete: "off",
    ...attributes(element, block, surface, names),
  };
  const decimals = element.is_decimal_allowed ? "decimal" : "numeric";
  const field = element.multiline
    ? el("textarea", { ...shared, rows: 4 })
    : el("input", {
        ...shared,
        type: KINDS[element.type],
        inputmode: element.type === "number_input" ? decimals : null,
      });
  field.value = start;
  const fields = () => ({ value: field.value === "" ? null : field.value });
  surface.register(block, element, fields);
  const counter = element.max_length
    ? el("span", { class: "counter", "aria-hidden": "true" })
    : null;
  const count = () => {
    if (!counter) return;
    const left = element.max_length - countCharacters(field.value);
    counter.textContent = String(left);
    counter.classList.toggle("counter-over", left < 0);
  };
  field.addEventListener("input", () => {
    count();
    surface.values.set(surface.key(block, element), fields());
    if (triggers(element).includes("on_character_entered") && dispatches(block))
      surface.act(block, element, fields(), field);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || element.multiline || event.isComposing) return;
    if (!dispatches(block) || !triggers(element).includes("on_enter_pressed")) return;
    event.preventDefault();
    surface.act(block, element, fields(), field);
  });
  count();
  return counter ? el("div", { class: "counted" }, field, counter) : field;
}

const dispatches = (block) => block.type !== "input" || block.dispatch_action;
const triggers = (element) =>
  element.dispatch_action_config?.trigger_actions_on ?? ["on_enter_pressed"];

function renderMoment(type, element, block, surface, names, { initial, toField, toPayload, name }) {
  const kept = surface.kept(block, element);
  const field = el("input", {
    type,
    class: "field-input field-moment",
    ...attributes(element, block, surface, names),
  });
  field.value = toField(kept ? kept[name] : element[initial]) ?? "";
  const fields = () => ({ [name]: field.value ? toPayload(field.value) : null });
  surface.register(block, element, fields);
  let before = field.value;
  field.addEventListener("change", async () => {
    if (await surface.changed(block, element, fields(), field)) before = field.value;
    else field.value = before;
  });
  return field;
}

const same = (value) => value;

export const renderDatePicker = (...parts) =>
  renderMoment("date", ...parts, {
    initial: "initial_date",
    name: "selected_date",
    toField: same,
    toPayload: same,
  });
export const renderTimePicker = (...parts) =>
  renderMoment("time", ...parts, {
    initial: "initial_time",
    name: "selected_time",
    toField: same,
    toPayload: same,
  });

/** Seconds since 1970 in the payload, the clock of this time zone in the field. */
export const renderDateTimePicker = (...parts) =>
  renderMoment("datetime-local", ...parts, {
    initial: "initial_date_time",
    name: "selected_date_time",
    toField: (seconds) => (seconds ? localField(new Date(seconds * 1000)) : ""),
    toPayload: (shown) => Math.floor(new Date(shown).getTime() / 1000),
  });

function localField(date) {
  const two = (number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}`;
}
