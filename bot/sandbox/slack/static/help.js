// The small help window: what this page is and which keys it knows.

import { openDialog } from "./dialog.js";
import { el, iconButton } from "./dom.js";

const KEYS = [
  ["/", "Type a command"],
  ["Alt + ↑ or ↓", "The channel above or below"],
  ["Alt + H", "The app's Home tab"],
  ["Alt + S", "Shortcuts of the app"],
  ["Alt + U", "Become another person"],
  ["Alt + T", "Light or dark"],
  ["↑ ↓ in the messages", "Go through them; R replies in a thread, M opens the menu"],
  ["Enter", "Send"],
  ["Shift + Enter", "New line"],
  ["↑ in an empty box", "The command before"],
  ["Tab or ↓, Enter", "Take a suggestion"],
  ["Ctrl + Enter", "Submit a form"],
  ["Esc", "Close the form, thread or list"],
  ["?", "This help"],
];

export function openHelp() {
  if (document.querySelector("dialog[open]")) return;
  openDialog({
    label: "Help",
    className: "dialog dialog-help",
    content: ({ close, titleId }) => [
      el(
        "header",
        { class: "modal-head" },
        el("h2", { class: "modal-title", id: titleId }, "Help"),
        iconButton("close", "Close", close, { "data-first": true }),
      ),
      el(
        "div",
        { class: "dialog-body" },
        el(
          "p",
          {},
          "A Slack workspace that lives on this machine: nothing leaves it. The app in it is connected exactly as it would be to Slack.",
        ),
        el(
          "table",
          { class: "keys" },
          el("caption", { class: "unseen" }, "Keys"),
          KEYS.map(([key, does]) =>
            el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, key)), el("td", {}, does)),
          ),
        ),
      ),
    ],
  });
}
