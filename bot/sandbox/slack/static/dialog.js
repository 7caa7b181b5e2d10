// Modal dialogs over the browser's own: focus kept inside and given back, Escape for the top one
// only.

import { add, el, uniqueId } from "./dom.js";

const FOCUSABLE = 'a[href], button, input, textarea, select, [tabindex]:not([tabindex="-1"])';

const focusable = (dialog) =>
  [...dialog.querySelectorAll(FOCUSABLE)].filter(
    (node) => !node.disabled && node.getClientRects().length > 0,
  );

function keepTabInside(event, dialog) {
  if (event.key !== "Tab") return;
  const nodes = focusable(dialog);
  if (!nodes.length) return;
  const [first, last] = [nodes[0], nodes.at(-1)];
  const edge = event.shiftKey ? first : last;
  if (document.activeElement !== edge && dialog.contains(document.activeElement)) return;
  event.preventDefault();
  (event.shiftKey ? last : first).focus();
}

/** Where the focus goes when what had it is gone by the time the dialog closes. */
function giveBack(opener) {
  const again = opener?.isConnected
    ? opener
    : [...document.querySelectorAll("[data-focus]")].find(
        (node) => node.dataset.focus === opener?.dataset?.focus && opener?.dataset?.focus,
      );
  const target =
    again ??
    document.querySelector("dialog[open]:last-of-type") ??
    document.getElementById("composer-text");
  target?.focus({ preventScroll: true });
}

/**
 * Opens a dialog. `content({ dialog, close, titleId })` gives what is inside; `escaped` may refuse
 * Escape by returning false; `closed` is called last.
 */
export function openDialog({ label, className, role = "dialog", content, escaped, closed }) {
  const opener = document.activeElement;
  const titleId = uniqueId("dialog-title");
  const dialog = el("dialog", {
    class: className,
    role,
    "aria-modal": "true",
    "aria-labelledby": titleId,
  });
  let shut = false;
  const close = () => {
    if (shut) return;
    shut = true;
    dialog.close();
    dialog.remove();
    giveBack(opener);
    closed?.();
  };
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault();
    if (event.target === dialog && escaped?.() !== false) close();
  });
  dialog.addEventListener("keydown", (event) => keepTabInside(event, dialog));
  add(dialog, content({ dialog, close, titleId }));
  if (!dialog.querySelector(`#${titleId}`)) dialog.setAttribute("aria-label", label);
  if (role === "alertdialog") describe(dialog, dialog);
  document.body.append(dialog);
  dialog.showModal();
  focusFirst(dialog);
  return { dialog, close, titleId };
}

/**
 * Has `node` read with the words of the dialog's body: nobody comes past them on the way to a
 * button.
 */
function describe(node, dialog) {
  const body = dialog.querySelector(".dialog-body");
  if (!body) return;
  body.id ||= uniqueId("dialog-body");
  node.setAttribute("aria-describedby", body.id);
}

/** What asks to be first, else the first field, else the button that goes on. */
export function focusFirst(dialog) {
  const first = dialog.querySelector("[data-first]");
  const field = dialog.querySelector(".dialog-body :is(input, textarea, button, [tabindex='0'])");
  const button = [...dialog.querySelectorAll(".dialog-buttons button:not(:disabled)")].at(-1);
  if (!first && !field && button) describe(button, dialog);
  (first ?? field ?? button ?? focusable(dialog)[0])?.focus();
}
