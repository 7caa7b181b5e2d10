// Turns Slack's mrkdwn and plain text into nodes; whatever is not recognised stays the text that
// was sent.

import { el } from "./dom.js";
import { EMOJI_PATTERN, emojiNode } from "./emoji.js";
import { broadcastNode, channelNode, dateNode, groupNode, linkNode, userNode } from "./mentions.js";

/** Slack escapes exactly these three characters, once. */
function decode(text) {
  return text.replace(/&(lt|gt|amp);/g, (_, name) => ({ lt: "<", gt: ">", amp: "&" })[name]);
}

const MARKS = { "*": "strong", _: "em", "~": "s" };
const BARE_URL = /^https?:\/\/[^\s<>|]+/;
const WORD = /[\p{L}\p{N}]/u;

/**
 * `names`: also read bare @here, @channel, @everyone and #channel, as Slack does in blocks without
 * `verbatim`.
 */
export function renderMrkdwn(text, { directory, verbatim = false, names = !verbatim } = {}) {
  const fragment = document.createDocumentFragment();
  const options = { directory, urls: !verbatim, names };
  const pieces = String(text ?? "").split(/```([\s\S]+?)```/);
  pieces.forEach((piece, index) => {
    if (index % 2)
      fragment.append(
        el("pre", { class: "pre" }, codeNodes(piece.replace(/^\n|\n$/g, ""), options)),
      );
    else fragment.append(...lines(piece, options, index > 0, index < pieces.length - 1));
  });
  return fragment;
}

function lines(text, options, afterPre, beforePre) {
  const trimmed = text.replace(afterPre ? /^\n/ : /^$/, "").replace(beforePre ? /\n$/ : /$^/, "");
  if (!trimmed) return [];
  const nodes = [];
  const rows = trimmed.split("\n");
  for (let at = 0; at < rows.length; at += 1) {
    if (/^(&gt;|>){3}/.test(rows[at])) {
      const rest = [rows[at].replace(/^(&gt;|>){3} ?/, ""), ...rows.slice(at + 1)];
      nodes.push(el("blockquote", {}, paragraph(rest, options)));
      return nodes;
    }
    const quoted = [];
    while (at < rows.length && /^(&gt;|>)/.test(rows[at]))
      quoted.push(rows[at++].replace(/^(&gt;|>) ?/, ""));
    if (quoted.length) {
      nodes.push(el("blockquote", {}, paragraph(quoted, options)));
      at -= 1;
      continue;
    }
    nodes.push(...inline(rows[at], options));
    if (at < rows.length - 1 && !/^(&gt;|>)/.test(rows[at + 1])) nodes.push(el("br"));
  }
  return nodes;
}

const paragraph = (rows, options) =>
  rows.flatMap((row, index) =>
    index ? [el("br"), ...inline(row, options)] : inline(row, options),
  );

function inline(text, options) {
  const nodes = [];
  let plain = "";
  const flush = () => {
    if (plain) nodes.push(document.createTextNode(decode(plain)));
    plain = "";
  };
  for (let at = 0; at < text.length; ) {
    const found = readAt(text, at, options);
    if (found) {
      flush();
      nodes.push(...[found.node].flat());
      at = found.end;
    } else {
      plain += text[at];
      at += 1;
    }
  }
  flush();
  return nodes;
}

/** What begins exactly at `at`: { node, end }, or null for an ordinary character. */
function readAt(text, at, options) {
  const character = text[at];
  if (character === "<") return readAngle(text, at, options);
  if (character === "`") return readCode(text, at, options);
  if (character in MARKS) return readStyle(text, at, options);
  if (character === ":") return readEmoji(text, at);
  if (at > 0 && WORD.test(text[at - 1])) return null;
  if (options.urls && character === "h") return readUrl(text, at);
  if (options.names && (character === "@" || character === "#")) return readName(text, at, options);
  return null;
}

function readAngle(text, at, { directory }) {
  const close = text.indexOf(">", at);
  if (close < 0) return null;
  const node = angleNode(text.slice(at + 1, close), directory);
  return node && { node, end: close + 1 };
}

function angleNode(inside, directory) {
  const bar = inside.indexOf("|");
  const target = bar < 0 ? inside : inside.slice(0, bar);
  const label = bar < 0 ? "" : decode(inside.slice(bar + 1));
  if (/^@[UW][A-Z0-9]+$/.test(target)) return userNode(target.slice(1), directory, label);
  if (/^#[CGD][A-Z0-9]+$/.test(target)) return channelNode(target.slice(1), directory, label);
  if (/^!(here|channel|everyone)$/.test(target)) return broadcastNode(target.slice(1));
  if (target.startsWith("!subteam^")) return groupNode(target.slice(9), label);
  if (target.startsWith("!date^")) {
    const [, timestamp, format, ...link] = target.split("^");
    return dateNode(timestamp, decode(format ?? ""), label, decode(link.join("^")));
  }
  if (target.startsWith("!")) return label ? document.createTextNode(label) : null;
  return linkNode(decode(target), label ? [emojiText(label)] : undefined);
}

const emojiText = (text) => renderPlain(text, true);

function readCode(text, at, options) {
  const close = text.indexOf("`", at + 1);
  if (close <= at + 1) return null;
  return { node: el("code", {}, codeNodes(text.slice(at + 1, close), options)), end: close + 1 };
}

/** Inside code only <…> is read. */
function codeNodes(text, options) {
  return text
    .split(/(<[^<>\n]+>)/)
    .map(
      (piece) =>
        (piece.startsWith("<") && angleNode(piece.slice(1, -1), options.directory)) ||
        decode(piece),
    );
}

function readStyle(text, at, options) {
  const mark = text[at];
  const before = text[at - 1];
  if (before !== undefined && (WORD.test(before) || before === mark)) return null;
  if (text[at + 1] === undefined || /\s/.test(text[at + 1]) || text[at + 1] === mark) return null;
  const close = closing(text, at, mark);
  if (close < 0) return null;
  return { node: el(MARKS[mark], {}, inline(text.slice(at + 1, close), options)), end: close + 1 };
}

function closing(text, at, mark) {
  for (let next = at + 1; next < text.length; next += 1) {
    if (text[next] === "<") {
      const end = text.indexOf(">", next);
      if (end > 0) next = end;
    } else if (text[next] === "`") {
      const end = text.indexOf("`", next + 1);
      if (end > 0) next = end;
    } else if (
      text[next] === mark &&
      !/\s/.test(text[next - 1]) &&
      !WORD.test(text[next + 1] ?? " ") &&
      text[next + 1] !== mark
    ) {
      return next;
    }
  }
  return -1;
}

function readEmoji(text, at) {
  EMOJI_PATTERN.lastIndex = at;
  const match = EMOJI_PATTERN.exec(text);
  const node = match && emojiNode(match[1], match[2]);
  return node ? { node, end: at + match[0].length } : null;
}

function readUrl(text, at) {
  const match = BARE_URL.exec(text.slice(at));
  if (!match) return null;
  const url = match[0].replace(/(?:&gt;|&lt;).*$/, "").replace(/[.,;:!?'")\]*_~]+$/, "");
  return { node: linkNode(decode(url)), end: at + url.length };
}

function readName(text, at, { directory }) {
  const match = /^(@(here|channel|everyone)|#([a-z0-9_-]{1,80}))(?![\p{L}\p{N}_-])/u.exec(
    text.slice(at),
  );
  if (!match) return null;
  const end = at + match[0].length;
  if (match[2]) return { node: broadcastNode(match[2]), end };
  const channel = directory?.channels.find((one) => one.name === match[3]);
  return channel ? { node: channelNode(channel.id, directory), end } : null;
}

/**
 * Plain text: only emoji shortcodes are read, and only when `emoji` allows; line breaks are kept.
 */
export function renderPlain(text, emoji = true) {
  const fragment = document.createDocumentFragment();
  const source = String(text ?? "");
  let plain = "";
  for (let at = 0; at < source.length; ) {
    const found = emoji && source[at] === ":" ? readEmoji(source, at) : null;
    if (found) {
      fragment.append(plain, found.node);
      plain = "";
      at = found.end;
    } else {
      plain += source[at];
      at += 1;
    }
  }
  fragment.append(plain);
  return fragment;
}

/**
 * A Block Kit text object of either kind. Names in blocks are read unless `verbatim` forbids it.
 */
export function renderText(object, directory) {
  if (!object || typeof object !== "object") return document.createDocumentFragment();
  if (object.type === "mrkdwn")
    return renderMrkdwn(object.text, { directory, verbatim: object.verbatim === true });
  return renderPlain(object.text, object.emoji !== false);
}
