// Shows the interactive elements of Block Kit; each sends or keeps its value through its surface.

import { renderCheckboxes, renderRadioButtons } from "./checks.js";
import { el, icon } from "./dom.js";
import {
  renderDatePicker,
  renderDateTimePicker,
  renderTextInput,
  renderTimePicker,
} from "./inputs.js";
import { safeUrl } from "./mentions.js";
import { renderPlain } from "./mrkdwn.js";
import { openMenu } from "./popup.js";
import { renderSelect, SELECTS } from "./selects.js";

const RENDERERS = {
  button: renderButton,
  workflow_button: renderButton,
  overflow: renderOverflow,
  checkboxes: renderCheckboxes,
  radio_buttons: renderRadioButtons,
  datepicker: renderDatePicker,
  timepicker: renderTimePicker,
  datetimepicker: renderDateTimePicker,
  plain_text_input: renderTextInput,
  number_input: renderTextInput,
  email_text_input: renderTextInput,
  url_text_input: renderTextInput,
};

/** `names` holds the ids of label, hint and error when the element stands in an input block. */
export function renderElement(element, block, surface, names = {}) {
  const known = Object.hasOwn(RENDERERS, element.type) ? RENDERERS[element.type] : null;
  if (known) return known(element, block, surface, names);
  if (Object.hasOwn(SELECTS, element.type)) return renderSelect(element, block, surface, names);
  return el(
    "span",
    { class: "unsupported" },
    `The element “${element.type ?? "without a type"}” is not shown in this workspace.`,
  );
}

function renderButton(element, block, surface) {
  if (
    element.visible_to_user_ids?.length &&
    !element.visible_to_user_ids.includes(surface.directory.viewer.id)
  )
    return document.createDocumentFragment();
  const style = ["primary", "danger"].includes(element.style) ? ` button-${element.style}` : "";
  const words = renderPlain(element.text?.text, element.text?.emoji !== false);
  const properties = {
    class: `button${style}`,
    "aria-label": element.accessibility_label,
    dataset: { focus: surface.focusKey(block, element), action: element.action_id ?? "" },
  };
  const url = element.url && safeUrl(element.url);
  const fields = {
    ...(element.value === undefined ? {} : { value: element.value }),
    ...(element.text ? { text: element.text } : {}),
  };
  if (url && !element.confirm) {
    return el(
      "a",
      {
        ...properties,
        href: url,
        target: "_blank",
        rel: "noopener noreferrer",
        on: { click: (event) => surface.act(block, element, fields, event.currentTarget) },
      },
      words,
    );
  }
  const press = async (event) => {
    const done = await surface.act(block, element, fields, event.currentTarget);
    if (done && url) window.open(url, "_blank", "noopener,noreferrer");
  };
  return el("button", { ...properties, type: "button", on: { click: press } }, words);
}

function renderOverflow(element, block, surface) {
  const pick = (option, node) => {
    const url = option.url && safeUrl(option.url);
    if (url) window.open(url, "_blank", "noopener,noreferrer");
    surface.act(block, element, { selected_option: option }, node);
  };
  const open = (event) => {
    const node = event.currentTarget;
    openMenu(
      node,
      "More actions",
      (element.options ?? []).map((option) => ({
        label: renderPlain(option.text?.text, option.text?.emoji !== false),
        detail: option.description?.text,
        pick: () => pick(option, node),
      })),
    );
  };
  return el(
    "button",
    {
      type: "button",
      class: "button button-overflow",
      "aria-label": "More actions",
      title: "More actions",
      "aria-haspopup": "menu",
      "aria-expanded": "false",
      dataset: { focus: surface.focusKey(block, element), action: element.action_id ?? "" },
      on: { click: open },
    },
    icon("more"),
  );
}
