// Asks "are you sure" with the words of a confirm object, above whatever else is open.

import { openDialog } from "./dialog.js";
import { el } from "./dom.js";
import { renderText } from "./mrkdwn.js";

/** True when the person agreed; Escape and closing mean no. */
export function askConfirmation(confirm, directory) {
  return new Promise((resolve) => {
    let agreed = false;
    const text = (object, otherwise) => (object?.text ? renderText(object, directory) : otherwise);
    const { close } = openDialog({
      label: confirm.title?.text ?? "Are you sure?",
      className: "dialog dialog-confirm",
      role: "alertdialog",
      content: ({ close: shut, titleId }) => [
        el("h2", { class: "dialog-title", id: titleId }, text(confirm.title, "Are you sure?")),
        el("div", { class: "dialog-body" }, text(confirm.text, "")),
        el(
          "div",
          { class: "dialog-buttons" },
          el(
            "button",
            { type: "button", class: "button", on: { click: () => shut() } },
            text(confirm.deny, "Cancel"),
          ),
          el(
            "button",
            {
              type: "button",
              class: `button ${confirm.style === "danger" ? "button-danger" : "button-primary"}`,
              "data-first": true,
              on: {
                click: () => {
                  agreed = true;
                  shut();
                },
              },
            },
            text(confirm.confirm, "Yes"),
          ),
        ),
      ],
      closed: () => resolve(agreed),
    });
    return close;
  });
}
