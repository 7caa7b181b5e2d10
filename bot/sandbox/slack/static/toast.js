// What the page has to tell that belongs nowhere else: a defect of its own, or what was refused
// where nothing stands that could say so.

import { el, fill, iconButton } from "./dom.js";

const place = el("div", { id: "toast", class: "toast", role: "alert", popover: "manual" });
document.body.append(place);

/**
 * Shows one sentence until it is dismissed or another takes its place. Gives what ends it once it is
 * no longer true.
 */
export function toast(words, ...more) {
  const shown = el("span", { class: "toast-words" }, words, more);
  const shut = () => {
    if (!shown.isConnected) return;
    place.hidePopover();
    fill(place);
  };
  fill(place, shown, iconButton("close", "Dismiss", shut));
  // Closed and shown again, it stands above a dialog that was opened meanwhile.
  if (place.matches(":popover-open")) place.hidePopover();
  place.showPopover();
  return shut;
}

function defect(error) {
  const reload = el(
    "button",
    { type: "button", class: "link-button", on: { click: () => location.reload() } },
    "Reload the page",
  );
  const reason = error?.message ?? String(error);
  // What the workspace refused has a sentence of its own; the rest is a mistake in this page.
  if (error?.code) toast(reason);
  else toast(`This page has made a mistake (${reason}). `, reload);
}

addEventListener("error", (event) => event.error && defect(event.error));
addEventListener("unhandledrejection", (event) => {
  defect(event.reason);
  // A refusal was told; a mistake stays visible to developers, too.
  if (event.reason?.code) event.preventDefault();
});
