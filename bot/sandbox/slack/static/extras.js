// What may stand under a message: attachments of the older kind, and reactions.

import { renderBlocks } from "./blocks.js";
import { el, icon } from "./dom.js";
import { emojiNode } from "./emoji.js";
import { linkNode, personName } from "./mentions.js";
import { renderMrkdwn, renderPlain } from "./mrkdwn.js";
import { Surface } from "./surface.js";

const COLOURS = { good: "#2f9e6e", warning: "#d9a400", danger: "#c22a44" };

/** `container` is the message's own, since its attachments have no other. */
export function attachmentNodes(attachments, directory, container) {
  return (attachments ?? []).map((attachment) => {
    const node = el("div", { class: "attachment" }, parts(attachment, directory, container));
    const colour =
      COLOURS[attachment.color] ??
      (/^#?[0-9a-f]{6}$/i.test(attachment.color ?? "")
        ? `#${attachment.color.replace("#", "")}`
        : null);
    if (colour) node.style.borderLeftColor = colour;
    return node;
  });
}

function parts(attachment, directory, container) {
  if (attachment.blocks?.length)
    return el(
      "div",
      { class: "blocks" },
      renderBlocks(attachment.blocks, new Surface({ directory, container })),
    );
  const text = (words) => renderMrkdwn(words, { directory, names: false });
  const title =
    attachment.title &&
    el(
      "div",
      { class: "attachment-title" },
      attachment.title_link
        ? linkNode(attachment.title_link, [attachment.title])
        : renderPlain(attachment.title),
    );
  const fields = (attachment.fields ?? []).map((field) =>
    el(
      "div",
      { class: "field" },
      el("strong", {}, renderPlain(field.title)),
      el("br"),
      text(field.value),
    ),
  );
  return [
    attachment.pretext && el("div", {}, text(attachment.pretext)),
    title,
    el("div", { class: "message-text" }, text(attachment.text ?? attachment.fallback ?? "")),
    fields.length > 0 && el("div", { class: "fields" }, fields),
    attachment.footer && el("div", { class: "menu-detail" }, renderPlain(attachment.footer)),
  ];
}

/** The files of a message by their names: this workspace keeps no contents. */
export function fileNodes(files) {
  if (!files?.length) return null;
  return el(
    "div",
    { class: "files" },
    files.map((file) => el("span", { class: "file" }, icon("file"), file.name)),
  );
}

/** `reactions` is emoji name → the people who reacted. */
export function reactionNodes(reactions, directory) {
  const names = Object.entries(reactions ?? {}).filter(([, people]) => people.length);
  if (!names.length) return null;
  const who = (people) =>
    people.map((id) => personName(directory.users.find((user) => user.id === id))).join(", ");
  return el(
    "div",
    { class: "reactions" },
    names.map(([name, people]) =>
      el(
        "span",
        { class: "reaction", title: who(people) },
        emojiNode(name) ?? `:${name}:`,
        " ",
        people.length,
      ),
    ),
  );
}
