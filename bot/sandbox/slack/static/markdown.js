// Shows `markdown` blocks: the standard Markdown that Slack accepts there, as far as messages use
// it.

import { add, el } from "./dom.js";
import { EMOJI_PATTERN, emojiNode } from "./emoji.js";
import { linkNode } from "./mentions.js";

const ITEM = /^(\s*)([-*+]|\d+[.)])\s+(.*)$/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

/** One reader for each kind of block, tried in this order: each gives { node, next } or null. */
const READERS = [readFence, readHeading, readRule, readQuote, readTable, readList, readParagraph];

export function renderMarkdown(text) {
  const lines = String(text ?? "").split("\n");
  const nodes = [];
  let at = 0;
  while (at < lines.length) {
    if (!lines[at].trim()) {
      at += 1;
      continue;
    }
    for (const read of READERS) {
      const found = read(lines, at);
      if (found) {
        nodes.push(found.node);
        at = found.next;
        break;
      }
    }
  }
  return nodes;
}

function readFence(lines, at) {
  const open = /^\s*(```+|~~~+)/.exec(lines[at]);
  if (!open) return null;
  let end = at + 1;
  while (end < lines.length && !lines[end].trim().startsWith(open[1])) end += 1;
  return { node: el("pre", { class: "pre" }, lines.slice(at + 1, end).join("\n")), next: end + 1 };
}

function readHeading(lines, at) {
  const match = /^(#{1,6})\s+(.*?)\s*#*$/.exec(lines[at]);
  if (!match) return null;
  const level = match[1].length;
  return {
    node: el(
      "div",
      {
        class: `md-heading md-heading-${Math.min(level, 3)}`,
        role: "heading",
        "aria-level": Math.min(level + 3, 6),
      },
      inline(match[2]),
    ),
    next: at + 1,
  };
}

function readRule(lines, at) {
  return /^\s*([-*_])(\s*\1){2,}\s*$/.test(lines[at]) ? { node: el("hr"), next: at + 1 } : null;
}

function readQuote(lines, at) {
  let end = at;
  while (end < lines.length && /^\s*>/.test(lines[end])) end += 1;
  if (end === at) return null;
  const inside = lines
    .slice(at, end)
    .map((line) => line.replace(/^\s*> ?/, ""))
    .join("\n");
  return { node: el("blockquote", {}, renderMarkdown(inside)), next: end };
}

function readTable(lines, at) {
  if (!lines[at].includes("|") || !TABLE_RULE.test(lines[at + 1] ?? "")) return null;
  const cells = (line) =>
    line
      .trim()
      .replace(/^\||\|$/g, "")
      .split("|")
      .map((cell) => cell.trim());
  const aligns = cells(lines[at + 1]).map((cell) =>
    cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "right") : "left",
  );
  let end = at + 2;
  while (end < lines.length && lines[end].includes("|")) end += 1;
  const row = (line, tag) =>
    el(
      "tr",
      {},
      cells(line).map((cell, column) =>
        el(
          tag,
          { class: `align-${aligns[column] ?? "left"}`, scope: tag === "th" ? "col" : null },
          inline(cell),
        ),
      ),
    );
  const table = el(
    "table",
    { class: "table" },
    el("thead", {}, row(lines[at], "th")),
    el(
      "tbody",
      {},
      lines.slice(at + 2, end).map((line) => row(line, "td")),
    ),
  );
  return {
    node: el(
      "div",
      { class: "table-frame", tabindex: 0, role: "region", "aria-label": "Table" },
      table,
    ),
    next: end,
  };
}

function readList(lines, at) {
  const first = ITEM.exec(lines[at]);
  if (!first) return null;
  const ordered = /\d/.test(first[2]);
  const list = el(ordered ? "ol" : "ul", {
    class: "md-list",
    start: ordered ? Number.parseInt(first[2], 10) : null,
  });
  let end = at;
  while (end < lines.length) {
    const item = ITEM.exec(lines[end]);
    if (!item || item[1].length < first[1].length) break;
    if (item[1].length > first[1].length) {
      const nested = readList(lines, end);
      (list.lastElementChild ?? list).append(nested.node);
      end = nested.next;
    } else if (/\d/.test(item[2]) !== ordered) {
      break;
    } else {
      list.append(listItem(item[3]));
      end += 1;
    }
  }
  return { node: list, next: end };
}

function listItem(text) {
  const task = /^\[([ xX])\]\s+(.*)$/.exec(text);
  if (!task) return el("li", {}, inline(text));
  const done = task[1] !== " ";
  return el(
    "li",
    { class: "md-task" },
    el(
      "span",
      { class: "md-box", role: "img", "aria-label": done ? "Done" : "Not done" },
      done ? "☑" : "☐",
    ),
    " ",
    inline(task[2]),
  );
}

function readParagraph(lines, at) {
  let end = at + 1;
  while (
    end < lines.length &&
    lines[end].trim() &&
    !READERS.slice(0, -1).some((read) => read(lines, end))
  )
    end += 1;
  const node = el("p", {});
  for (const [index, line] of lines.slice(at, end).entries()) {
    add(node, index ? [el("br"), inline(line)] : inline(line));
  }
  return { node, next: end };
}

const INLINE = [
  [/^\\([\\`*_{}[\]()#+\-.!~|>])/, (match) => match[1]],
  [/^`([^`]+)`/, (match) => el("code", {}, match[1])],
  [/^(\*\*|__)(?=\S)(.+?\S|\S)\1/, (match) => el("strong", {}, inline(match[2]))],
  [/^~~(?=\S)(.+?)~~/, (match) => el("s", {}, inline(match[1]))],
  [/^([*_])(?=\S)(.+?)\1(?![\p{L}\p{N}])/u, (match) => el("em", {}, inline(match[2]))],
  [
    /^!?\[([^\]]*)\]\(([^()\s]+)(?:\s+"[^"]*")?\)/,
    (match) => linkNode(match[2], inline(match[1] || match[2])),
  ],
  [/^<(https?:\/\/[^\s<>]+)>/, (match) => linkNode(match[1])],
  [/^https?:\/\/[^\s<>|]*[^\s<>|.,;:!?'")\]*_~]/, (match) => linkNode(match[0])],
];

function inline(text) {
  const nodes = [];
  let plain = "";
  let at = 0;
  while (at < text.length) {
    const found = inlineAt(text, at);
    if (found) {
      nodes.push(plain, found.node);
      plain = "";
      at += found.length;
    } else {
      plain += text[at];
      at += 1;
    }
  }
  return [...nodes, plain];
}

function inlineAt(text, at) {
  const rest = text.slice(at);
  const inWord = at > 0 && /[\p{L}\p{N}]/u.test(text[at - 1]);
  if (rest[0] === ":") {
    EMOJI_PATTERN.lastIndex = at;
    const match = EMOJI_PATTERN.exec(text);
    const node = match && emojiNode(match[1], match[2]);
    return node ? { node, length: match[0].length } : null;
  }
  if (!/[\\`*_~![<h]/.test(rest[0]) || (inWord && /[_h]/.test(rest[0]))) return null;
  for (const [pattern, make] of INLINE) {
    const match = pattern.exec(rest);
    if (match) return { node: make(match), length: match[0].length };
  }
  return null;
}
