// The inline things that are more than text: people, channels, groups, dates and links.

import { formatDate, fullTime } from "./dates.js";
import { el } from "./dom.js";

/**
 * An address that may be opened: http and https only, so that no script address can ever be
 * followed.
 */
export function safeUrl(address) {
  try {
    const url = new URL(String(address));
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : null;
  } catch {
    return null;
  }
}

/** A link, or, where the address may not be opened, the words and the address as text. */
export function linkNode(address, children) {
  const shown = children ?? [address.replace(/^mailto:/, "")];
  const url = safeUrl(address);
  if (url) return el("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, shown);
  if (/^(mailto|tel):/i.test(address)) return el("span", { class: "contact" }, shown);
  return document.createTextNode(
    children ? `<${address}|${el("span", {}, shown).textContent}>` : `<${address}>`,
  );
}

export function personName(user) {
  return user ? user.real_name || user.name : "Unknown person";
}

export function userNode(id, directory, label = "") {
  const user = directory?.users.find((one) => one.id === id);
  const name = user ? personName(user) : label || id;
  const own = id === directory?.viewer?.id;
  return el(
    "span",
    { class: own ? "mention mention-own" : "mention", title: user ? `@${user.name}` : id },
    `@${name.replace(/^@/, "")}`,
  );
}

export function channelNode(id, directory, label = "") {
  const channel = directory?.channels.find((one) => one.id === id);
  const name = channel?.name ?? (label || "private-channel");
  if (!channel) return el("span", { class: "mention" }, `#${name}`);
  return el(
    "button",
    {
      type: "button",
      class: "mention mention-channel",
      dataset: { channel: id, focus: `channel:${id}` },
    },
    `#${name}`,
  );
}

export function groupNode(id, label = "") {
  return el(
    "span",
    { class: "mention", title: `User group ${id}` },
    `@${(label || id).replace(/^@/, "")}`,
  );
}

export function broadcastNode(range) {
  return el("span", { class: "mention mention-own" }, `@${range}`);
}

export function dateNode(timestamp, format, fallback, link) {
  const shown = formatDate(timestamp, format);
  if (shown === null) return document.createTextNode(fallback || format || String(timestamp));
  const moment = new Date(Number(timestamp) * 1000);
  const moving = format.includes("{ago}");
  const node = el(
    "time",
    {
      datetime: moment.toISOString(),
      title: fullTime(moment),
      dataset: moving ? { ago: timestamp, template: format } : {},
    },
    shown,
  );
  return link && safeUrl(link) ? linkNode(link, [node]) : node;
}
