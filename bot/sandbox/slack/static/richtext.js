// Shows rich_text blocks: their text is literal, so only their elements can mention, link or style.

import { el } from "./dom.js";
import { emojiNode } from "./emoji.js";
import { broadcastNode, channelNode, dateNode, groupNode, linkNode, userNode } from "./mentions.js";

const STYLES = [
  ["bold", "strong"],
  ["italic", "em"],
  ["strike", "s"],
  ["underline", "u"],
  ["highlight", "mark"],
  ["client_highlight", "mark"],
  ["code", "code"],
];
const ORDER = ["decimal", "lower-alpha", "lower-roman"];
const BULLET = ["disc", "circle", "square"];

export function renderRichText(block, directory) {
  return (block.elements ?? []).map((element) => renderPart(element, directory));
}

function renderPart(element, directory) {
  const inside = () => inlineNodes(element.elements, directory);
  switch (element.type) {
    case "rich_text_section":
      return el("div", { class: "rich-section" }, inside());
    case "rich_text_quote":
      return el("blockquote", {}, inside());
    case "rich_text_preformatted":
      return el("pre", { class: "pre" }, inside());
    case "rich_text_list":
      return renderList(element, directory);
    default:
      return placeholder(element.type);
  }
}

/** Slack sends nested lists as a row of lists, each with its own `indent`. */
function renderList(list, directory) {
  const ordered = list.style === "ordered";
  const indent = Math.min(Math.max(Number(list.indent) || 0, 0), 8);
  const node = el(
    ordered ? "ol" : "ul",
    {
      class: list.border ? "rich-list rich-list-border" : "rich-list",
      start: ordered && list.offset ? Number(list.offset) + 1 : null,
    },
    (list.elements ?? []).map((item) => el("li", {}, inlineNodes(item.elements, directory))),
  );
  node.style.setProperty("--indent", String(indent));
  node.style.listStyleType = (ordered ? ORDER : BULLET)[indent % 3];
  return node;
}

export function inlineNodes(elements, directory) {
  return (elements ?? []).map((element) => styled(inlineNode(element, directory), element.style));
}

function inlineNode(element, directory) {
  switch (element.type) {
    case "text":
      return document.createTextNode(element.text ?? "");
    case "link":
      return linkNode(String(element.url ?? ""), element.text ? [element.text] : undefined);
    case "user":
      return userNode(element.user_id, directory);
    case "channel":
      return channelNode(element.channel_id, directory);
    case "usergroup":
      return groupNode(element.usergroup_id);
    case "broadcast":
      return broadcastNode(element.range);
    case "team":
      return el(
        "span",
        { class: "mention" },
        directory?.team?.id === element.team_id ? directory.team.name : element.team_id,
      );
    case "emoji":
      return (
        emojiNode(
          element.name,
          element.skin_tone ? `skin-tone-${element.skin_tone}` : "",
          element.unicode,
        ) ?? document.createTextNode(`:${element.name}:`)
      );
    case "date":
      return dateNode(element.timestamp, element.format ?? "", element.fallback, element.url);
    case "color":
      return colorNode(element.value);
    default:
      return placeholder(element.type);
  }
}

function styled(node, style) {
  let shown = node;
  for (const [name, tag] of STYLES) if (style?.[name]) shown = el(tag, {}, shown);
  return shown;
}

function colorNode(value) {
  const swatch = el("span", { class: "swatch" });
  if (/^#[0-9a-f]{3,8}$/i.test(value)) swatch.style.backgroundColor = value;
  return el("span", {}, swatch, value);
}

const placeholder = (type) => el("span", { class: "unsupported" }, `Not shown here: ${type}`);
