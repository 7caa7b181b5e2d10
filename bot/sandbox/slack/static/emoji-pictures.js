// Pictures of the emoji that the bot uses, for machines that have no font for them: simple shapes
// on a square of 20 by 20.

const SVG = "http://www.w3.org/2000/svg";
const BLUE = "#3b7dd8";
const GREEN = "#2e9e5b";
const GREY = "#7c8b92";
const INK = "#4a4f55";
const LINE = "currentColor";
const RED = "#d64545";
const WHITE = "#ffffff";
const YELLOW = "#f2b632";

const circle = (cx, cy, r, fill) => ["circle", { cx, cy, r, fill }];
const box = (x, y, width, height, fill, rx = 0) => ["rect", { x, y, width, height, rx, fill }];
const shape = (d, fill) => ["path", { d, fill }];
const line = (d, stroke, width = 2) => [
  "path",
  {
    d,
    fill: "none",
    stroke,
    "stroke-width": width,
    "stroke-linecap": "round",
    "stroke-linejoin": "round",
  },
];
const letter = (text, fill, size = 14) => [
  "text",
  { x: 10, y: 15, fill, "font-size": size, "font-weight": 700, "text-anchor": "middle" },
  text,
];

const key = (...shapes) => [box(1, 1, 18, 18, BLUE, 4), ...shapes];
const bell = [
  shape("M10 2c3.4 0 5 2.4 5 5.5 0 4 1.5 5 2 6.5H3c.5-1.5 2-2.5 2-6.5C5 4.4 6.6 2 10 2z", YELLOW),
  circle(10, 16, 2, YELLOW),
];
const tray = (arrow) => [
  line("M2 11v6h16v-6", LINE),
  line("M2 11h4l1.5 2.5h5L14 11h4", LINE),
  line(arrow, BLUE),
];

const PICTURES = {
  alarm_clock: [
    circle(10, 11, 7.5, RED),
    circle(10, 11, 5.5, WHITE),
    line("M10 7.5V11l2.5 1.5", INK, 1.6),
    line("M3 5l2.5-2.5M17 5l-2.5-2.5", RED),
  ],
  arrow_forward: key(shape("M7 5l8 5-8 5z", WHITE)),
  arrows_counterclockwise: key(
    line("M5 10a5 5 0 0 1 9-3M15 10a5 5 0 0 1-9 3", WHITE),
    line("M14.5 4v3.2h-3.2M5.5 16v-3.2h3.2", WHITE),
  ),
  bar_chart: [box(2, 10, 4, 8, GREEN), box(8, 3, 4, 15, BLUE), box(14, 7, 4, 11, RED)],
  bell,
  black_square_for_stop: key(box(6, 6, 8, 8, WHITE, 1)),
  deciduous_tree: [box(8.5, 11, 3, 8, "#8a5a33"), circle(10, 8, 6.5, GREEN)],
  double_vertical_bar: key(box(6, 5, 3, 10, WHITE), box(11, 5, 3, 10, WHITE)),
  fast_forward: key(shape("M4 5.5l6 4.5-6 4.5zM10 5.5l6 4.5-6 4.5z", WHITE)),
  grey_question: [letter("?", GREY, 18)],
  heavy_check_mark: [line("M3 11l5 5 9-12", LINE, 3)],
  heavy_minus_sign: [line("M4 10h12", LINE, 3)],
  hourglass_flowing_sand: [
    line("M5 2h10M5 18h10", LINE),
    shape("M6 3h8c0 4-3 5-3 7s3 3 3 7H6c0-4 3-5 3-7S6 7 6 3z", YELLOW),
  ],
  inbox_tray: tray("M10 2v7M7 6l3 3 3-3"),
  information_source: key(letter("i", WHITE)),
  leftwards_arrow_with_hook: key(line("M6 12h6a3 3 0 0 0 0-6H9M8.5 9.5 6 12l2.5 2.5", WHITE)),
  link: [
    line(
      "M8.5 11.5l3-3M7 9l-2.5 2.5a2.8 2.8 0 0 0 4 4L11 13M13 11l2.5-2.5a2.8 2.8 0 0 0-4-4L9 7",
      GREY,
    ),
  ],
  mag: [
    circle(8, 8, 5.5, "#cfe3f5"),
    line("M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11zM12.2 12.2l5 5", LINE),
  ],
  mag_right: [
    circle(12, 8, 5.5, "#cfe3f5"),
    line("M12 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM7.8 12.2l-5 5", LINE),
  ],
  newspaper: [
    box(2, 3, 16, 14, "#e8ebed", 1),
    line("M5 7h10M5 10h4M5 13h4M12 10h3v3h-3z", INK, 1.4),
  ],
  no_bell: [...bell, line("M3 3l14 14", RED, 2.4)],
  no_entry: [circle(10, 10, 8.5, RED), box(5, 8.5, 10, 3, WHITE)],
  outbox_tray: tray("M10 9V2M7 5l3-3 3 3"),
  raising_hand: [
    circle(9, 8, 4, YELLOW),
    shape("M2 19c0-4 3-6.5 7-6.5s7 2.500 7 6.5z", BLUE),
    line("M16 14V3", YELLOW, 2.4),
  ],
  rotating_light: [
    shape("M5 14V9a5 5 0 0 1 10 0v5z", RED),
    box(3, 14, 14, 4, INK, 1),
    line("M10 1v1.5M2.5 4l1.300 1M17.5 4l-1.300 1", YELLOW, 1.6),
  ],
  round_pushpin: [line("M10 9v9", GREY, 1.8), circle(10, 6, 4.5, RED)],
  scroll: [
    shape("M4 3h11v12H6a2 2 0 0 0-2 2z", "#ecdcb4"),
    line("M7 6h5M7 9h5M7 12h4M4 17h10a2 2 0 0 0 2-2h1.5", "#8a6d3b", 1.4),
  ],
  snowflake: [line("M10 2v16M3 6l14 8M17 6L3 14", BLUE, 1.8)],
  speech_balloon: [
    shape("M2 4h16v10H9l-4 4v-4H2z", "#cfd8dd"),
    line("M6 9h.01M10 9h.01M14 9h.01", INK),
  ],
  straight_ruler: [
    box(2, 7, 16, 6, YELLOW, 1),
    line("M5 7v2.5M8 7v2.5M11 7v2.5M14 7v2.5", INK, 1.2),
  ],
  warning: [shape("M10 2l9 16H1z", YELLOW), line("M10 8v4.5M10 15.2h.01", INK)],
  white_check_mark: [box(1, 1, 18, 18, GREEN, 4), line("M5 10.5l3.5 3.5 7-8", WHITE, 2.6)],
  wrench: [
    line("M4 16l7-7", GREY, 3.4),
    line("M16.5 5.5l-3 1-1.5-1.5 1-3a4 4 0 1 0 3.5 3.5z", GREY, 1.8),
  ],
  x: [line("M4 4l12 12M16 4L4 16", RED, 3)],
  zzz: [letter("z", BLUE, 18)],
};

export const PICTURED = Object.keys(PICTURES);

/** Null for an emoji that the bot does not use. */
export function picture(name) {
  const shapes = PICTURES[name];
  if (!shapes) return null;
  const svg = made("svg", {
    viewBox: "0 0 20 20",
    class: "emoji-picture",
    "aria-hidden": "true",
    focusable: "false",
  });
  for (const [tag, attributes, text] of shapes) {
    const node = made(tag, attributes);
    if (text) node.textContent = text;
    svg.append(node);
  }
  return svg;
}

function made(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}
