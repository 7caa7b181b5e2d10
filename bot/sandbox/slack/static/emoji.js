// Emoji by the short names that Slack uses; a name that is not one of them stays as it was typed.

import { el } from "./dom.js";
import { picture } from "./emoji-pictures.js";
import TABLE_LINES from "./emoji-table.js";

const TABLE = new Map(
  TABLE_LINES.flatMap((line) => line.split("|")).map((pair) => [
    pair.slice(0, pair.indexOf(" ")),
    pair.slice(pair.indexOf(" ") + 1),
  ]),
);

const TONES = {
  "skin-tone-2": "\u{1F3FB}",
  "skin-tone-3": "\u{1F3FC}",
  "skin-tone-4": "\u{1F3FD}",
  "skin-tone-5": "\u{1F3FE}",
  "skin-tone-6": "\u{1F3FF}",
};

/** Sticky: matches `:name:` or `:name::skin-tone-3:` exactly at `lastIndex`. */
export const EMOJI_PATTERN = /:([a-z0-9_+'-]+):(?::(skin-tone-[2-6]):)?/y;

/** The picture for a shortcode, named for assistive technology; null for an unknown one. */
export function emojiNode(name, tone, unicode) {
  const character = unicode ? fromCodePoints(unicode) : TABLE.get(name);
  if (!character) return null;
  const whole = tone ? character.replace(/\uFE0F$/, "") + TONES[tone] : character;
  // Where the system has no picture, or only a black sign: our own picture, or the name.
  const ours = isDrawn(whole) && isColoured(whole) ? null : picture(name);
  const shown = ours ?? (isDrawn(whole) ? whole : `:${name}:`);
  return el(
    "span",
    { class: "emoji", role: "img", "aria-label": name.replace(/[_-]/g, " "), title: `:${name}:` },
    shown,
  );
}

/** Shortcodes that begin with, then that contain, what was typed. */
export function findEmoji(typed, limit = 8) {
  const names = [...TABLE.keys()];
  const first = names.filter((name) => name.startsWith(typed));
  const later = names.filter((name) => !name.startsWith(typed) && name.includes(typed));
  return [...first, ...later].slice(0, limit).map((name) => ({ name, character: TABLE.get(name) }));
}

/** Slack writes code points as `1f44d-1f3fd`. */
function fromCodePoints(unicode) {
  const points = unicode.split("-").map((hex) => Number.parseInt(hex, 16));
  return points.every((point) => point > 0 && point <= 0x10ffff)
    ? String.fromCodePoint(...points)
    : null;
}

const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const drawn = new Map();

/**
 * Whether this machine has a font with the emoji, not only the box that stands for what no font
 * has.
 */
function isDrawn(character) {
  return [...character]
    .filter((one) => one !== "\u{FE0F}" && one !== "\u{200D}")
    .every((one) => {
      if (!drawn.has(one)) drawn.set(one, inkOf(one) !== inkOf("\u{10FFFD}"));
      return drawn.get(one);
    });
}

function inkOf(character) {
  return pixelsOf(character).join();
}

const coloured = new Map();

/** Whether the system's picture has colours: a text font has black signs for some emoji. */
function isColoured(character) {
  if (!coloured.has(character)) {
    const pixels = pixelsOf(character);
    const isGrey = (at) => pixels[at] === pixels[at + 1] && pixels[at] === pixels[at + 2];
    coloured.set(
      character,
      pixels.some((_value, at) => at % 4 === 0 && !isGrey(at)),
    );
  }
  return coloured.get(character);
}

function pixelsOf(character) {
  Object.assign(pen.canvas, { width: 24, height: 24 });
  pen.font = '16px "Apple Color Emoji", "Segoe UI Emoji", "Noto Color Emoji", sans-serif';
  pen.fillText(character, 2, 18);
  return pen.getImageData(0, 0, 24, 24).data;
}
