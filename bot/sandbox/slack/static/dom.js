// Makes elements out of tag, properties and children; text only ever becomes text nodes.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Properties: `class`, `on` (event → listener), `dataset`, `props` (DOM properties), anything else
 * is an attribute. `false`, `null` and `undefined` leave an attribute out; `true` makes it empty.
 */
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on")
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    else if (name === "dataset") Object.assign(node.dataset, value);
    else if (name === "props") Object.assign(node, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  add(node, children);
  return node;
}

/** Appends nodes and strings, however nested; empty values are left out. */
export function add(node, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

export function fill(node, ...children) {
  node.replaceChildren();
  return add(node, children);
}

const ICONS = {
  hash: "M6 3 4.6 15M12.4 3 11 15M3 6.6h12M2.4 11.4h12",
  lock: "M4.5 8h9v7h-9zM6.3 8V5.6a2.7 2.7 0 0 1 5.4 0V8",
  bolt: "M10 2 4 10.4h4.4L8 16l6-8.6H9.6z",
  send: "M3 9 15.4 3.4 11 15.2 8.6 10z",
  close: "m4.5 4.5 9 9m0-9-9 9",
  menu: "M3 5h12M3 9h12M3 13h12",
  more: "M4 9h.01M9 9h.01M14 9h.01",
  reply: "M3 4h12v8H9l-3.5 3v-3H3z",
  down: "m5 7 4 4 4-4",
  arrow: "M9 3v12m-4-4 4 4 4-4",
  home: "M3 8.4 9 3.4l6 5V15h-4v-4H7v4H3z",
  person: "M9 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6zm-5.5 6a5.5 5.5 0 0 1 11 0",
  moon: "M14.5 10.6A6 6 0 0 1 7.4 3.5a6 6 0 1 0 7.1 7.1z",
  sun: "M9 12.2a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4zM9 1.6v1.6m0 11.6v1.6M1.6 9h1.6m11.6 0h1.6M3.8 3.8l1.1 1.1m8.2 8.2 1.1 1.1m0-10.4-1.1 1.1m-8.2 8.2-1.1 1.1",
  help: "M9 16A7 7 0 1 0 9 2a7 7 0 0 0 0 14zM7 7a2 2 0 1 1 2.7 1.9c-.5.2-.7.6-.7 1.1v.3M9 12.7h.01",
  eye: "M1.8 9S4.4 4.4 9 4.4 16.2 9 16.2 9 13.6 13.6 9 13.6 1.8 9 1.8 9zM9 11a2 2 0 1 0 0-4 2 2 0 0 0 0 4z",
  check: "m4 9.4 3.4 3.4L14 6",
  warning: "M9 2.8 16.2 15H1.8zM9 7.4v3.2M9 12.9h.01",
  file: "M5 2.5h5.5L14 6v9.5H5zM10.5 2.5V6H14",
  back: "M11 4 6 9l5 5",
  link: "M7.5 10.5 10.5 7.5M8 5.5l1.6-1.6a3 3 0 0 1 4.3 4.3L12.3 10M5.7 8 4.1 9.7a3 3 0 0 0 4.3 4.3L10 12.4",
};

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  for (const [key, value] of Object.entries({
    viewBox: "0 0 18 18",
    class: `icon icon-${name}`,
    "aria-hidden": "true",
    focusable: "false",
  })) {
    svg.setAttribute(key, value);
  }
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** A button with only a picture: its label is what assistive technology and the tooltip say. */
export function iconButton(name, label, onClick, properties = {}) {
  return el(
    "button",
    {
      type: "button",
      class: "icon-button",
      "aria-label": label,
      title: label,
      ...properties,
      on: { click: onClick },
    },
    icon(name),
  );
}

/**
 * Renders into `root` and puts the focus back on the element with the same `data-focus` key, else
 * on `fallback()`.
 */
export function keepFocus(root, render, fallback) {
  const active = document.activeElement;
  const inside = active && active !== document.body && root.contains(active);
  const key = inside
    ? (active.dataset.focus ?? active.closest("[data-focus]")?.dataset.focus)
    : null;
  const selection =
    inside && typeof active.selectionStart === "number"
      ? [active.selectionStart, active.selectionEnd]
      : null;
  render();
  if (!inside || root.contains(document.activeElement)) return;
  const again =
    key && [...root.querySelectorAll("[data-focus]")].find((node) => node.dataset.focus === key);
  const target = again ?? fallback?.();
  if (!target) return;
  target.focus({ preventScroll: true });
  if (
    again &&
    selection &&
    "setSelectionRange" in again &&
    /^(text|search|url|tel|textarea)$/.test(again.type)
  )
    again.setSelectionRange(...selection);
}

let counter = 0;
export function uniqueId(prefix) {
  counter += 1;
  return `${prefix}-${counter}`;
}
