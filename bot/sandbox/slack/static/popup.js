// Popups in the top layer, placed at what opened them: menus, and the lists of selects.

import { el, uniqueId } from "./dom.js";

const GAP = 4;
const EDGE = 8;
const HIGHEST = 480;

/** Puts `popup` under `anchor`, or above it when there is more room, inside the window. */
export function place(popup, anchor, { matchWidth = false } = {}) {
  const at = anchor.getBoundingClientRect();
  if (matchWidth) popup.style.minWidth = `${Math.min(at.width, innerWidth - 2 * EDGE)}px`;
  const below = innerHeight - at.bottom - GAP - EDGE;
  const above = at.top - GAP - EDGE;
  const up = popup.offsetHeight > below && above > below;
  popup.style.maxHeight = `${Math.max(120, Math.min(HIGHEST, up ? above : below))}px`;
  popup.style.left = `${Math.max(EDGE, Math.min(at.left, innerWidth - popup.offsetWidth - EDGE))}px`;
  popup.style.top = up
    ? `${Math.max(EDGE, at.top - GAP - popup.offsetHeight)}px`
    : `${at.bottom + GAP}px`;
}

/**
 * A popup inside the same dialog as its anchor, since everything outside an open dialog is inert;
 * else in the page's main part.
 */
export function showPopup(popup, anchor, options) {
  popup.setAttribute("popover", "manual");
  (anchor.closest("dialog") ?? document.getElementById("place")).append(popup);
  popup.showPopover();
  place(popup, anchor, options);
}

/**
 * Opens a menu at `anchor`. Items: { label, detail?, mark?, pick }, all strings or nodes; an item
 * without `pick` is a caption.
 */
export function openMenu(anchor, label, items) {
  const menu = el("div", {
    class: "popup menu",
    role: "menu",
    "aria-label": label,
    id: uniqueId("menu"),
  });
  const close = (giveBack) => {
    document.removeEventListener("pointerdown", outside, true);
    removeEventListener("resize", leave);
    anchor.setAttribute("aria-expanded", "false");
    menu.remove();
    if (giveBack) anchor.focus();
  };
  const leave = () => close(false);
  const outside = (event) => {
    if (!menu.contains(event.target) && !anchor.contains(event.target)) close(false);
  };
  for (const item of items) menu.append(menuItem(item, close));
  menu.addEventListener("keydown", (event) => moveInMenu(event, menu, close));
  // One item is in the order of Tab, so that a list that scrolls can be reached.
  menu.addEventListener("focusin", (event) => {
    for (const item of menu.querySelectorAll("[role^=menuitem]")) {
      item.tabIndex = item === event.target ? 0 : -1;
    }
  });
  menu.addEventListener("focusout", (event) => {
    if (
      event.relatedTarget &&
      !menu.contains(event.relatedTarget) &&
      event.relatedTarget !== anchor
    )
      close(false);
  });
  anchor.setAttribute("aria-expanded", "true");
  showPopup(menu, anchor);
  document.addEventListener("pointerdown", outside, true);
  addEventListener("resize", leave);
  menu.querySelector("[role^=menuitem]")?.focus();
  return close;
}

function menuItem(item, close) {
  if (!item.pick) return el("div", { class: "menu-caption", role: "presentation" }, item.label);
  const pick = () => {
    close(true);
    item.pick();
  };
  const checked = item.checked === undefined ? {} : { "aria-checked": String(item.checked) };
  return el(
    "div",
    {
      class: "menu-item",
      role: item.checked === undefined ? "menuitem" : "menuitemradio",
      tabindex: -1,
      ...checked,
      on: { click: pick },
    },
    item.mark,
    el(
      "span",
      { class: "menu-words" },
      el("span", { class: "menu-label" }, item.label),
      item.detail && el("span", { class: "menu-detail" }, item.detail),
    ),
  );
}

function moveInMenu(event, menu, close) {
  const items = [...menu.querySelectorAll("[role^=menuitem]")];
  const at = items.indexOf(document.activeElement);
  const moves = {
    ArrowDown: (at + 1) % items.length,
    ArrowUp: (at - 1 + items.length) % items.length,
    Home: 0,
    End: items.length - 1,
  };
  if (event.key in moves) items[moves[event.key]]?.focus();
  else if (event.key === "Enter" || event.key === " ") document.activeElement.click();
  else if (event.key === "Escape") close(true);
  else if (event.key === "Tab") close(true);
  else if (event.key.length === 1)
    items
      .find((item) => item.textContent.trim().toLowerCase().startsWith(event.key.toLowerCase()))
      ?.focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
}
