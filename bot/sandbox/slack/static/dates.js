// Shows instants in the reader's time zone: Slack's date tokens, message times and day dividers.

const format = (options) => new Intl.DateTimeFormat("en-US", options);
const parts = {
  month: format({ month: "long" }),
  shortMonth: format({ month: "short" }),
  weekday: format({ weekday: "long" }),
  time: format({ hour: "numeric", minute: "2-digit" }),
  seconds: format({ hour: "numeric", minute: "2-digit", second: "2-digit" }),
  full: format({ dateStyle: "full", timeStyle: "long" }),
};
const two = (number) => String(number).padStart(2, "0");
// Intl puts a narrow no-break space before AM and PM; a plain one is what people type and search
// for.
const plain = (text) => text.replace(/\u202f/g, " ");

function ordinal(day) {
  const tens = day % 100;
  if (tens >= 11 && tens <= 13) return `${day}th`;
  return `${day}${["th", "st", "nd", "rd"][day % 10] ?? "th"}`;
}

/** Whole days from today to `date` by the calendar of this time zone: -1 is yesterday. */
function daysFromToday(date, now) {
  const midnight = (moment) => Date.UTC(moment.getFullYear(), moment.getMonth(), moment.getDate());
  return Math.round((midnight(date) - midnight(now)) / 86_400_000);
}

const relative = (date, now) =>
  ({ "-1": "yesterday", 0: "today", 1: "tomorrow" })[daysFromToday(date, now)];

let ahead = 0;

/** The workspace's clock may be ahead of this machine's, by so many seconds. */
export function setClockAhead(seconds) {
  ahead = seconds * 1000;
}

export const present = () => new Date(Date.now() + ahead);

function ago(date, now = present()) {
  const seconds = Math.round((now - date) / 1000);
  const units = [
    ["year", 31_536_000],
    ["month", 2_592_000],
    ["day", 86_400],
    ["hour", 3600],
    ["minute", 60],
  ];
  const [unit, length] = units.find(([, size]) => Math.abs(seconds) >= size) ?? [];
  if (!unit) return seconds >= 0 ? "just now" : "in a moment";
  const count = Math.floor(Math.abs(seconds) / length);
  const words = `${count} ${unit}${count === 1 ? "" : "s"}`;
  return seconds >= 0 ? `${words} ago` : `in ${words}`;
}

const year = (date, now) =>
  date.getFullYear() === now.getFullYear() ? "" : `, ${date.getFullYear()}`;
const TOKENS = {
  date_num: (d) => `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`,
  date_slash: (d) => `${two(d.getDate())}/${two(d.getMonth() + 1)}/${d.getFullYear()}`,
  date: (d, now) => `${parts.month.format(d)} ${ordinal(d.getDate())}${year(d, now)}`,
  date_short: (d) => `${parts.shortMonth.format(d)} ${d.getDate()}, ${d.getFullYear()}`,
  date_long: (d) =>
    `${parts.weekday.format(d)}, ${parts.month.format(d)} ${ordinal(d.getDate())}, ${d.getFullYear()}`,
  date_long_full: (d) => `${parts.month.format(d)} ${d.getDate()}, ${d.getFullYear()}`,
  date_pretty: (d, now) => relative(d, now) ?? TOKENS.date(d, now),
  date_short_pretty: (d, now) => relative(d, now) ?? TOKENS.date_short(d),
  date_long_pretty: (d, now) => relative(d, now) ?? TOKENS.date_long(d),
  day_divider_pretty: (d, now) =>
    relative(d, now) ??
    `${parts.weekday.format(d)}, ${parts.month.format(d)} ${ordinal(d.getDate())}${year(d, now)}`,
  time: (d) => plain(parts.time.format(d)),
  time_secs: (d) => plain(parts.seconds.format(d)),
  ago,
};

/**
 * Replaces the tokens of `template`; null when the instant or a token is not one Slack knows, so
 * that the fallback is shown.
 */
export function formatDate(timestamp, template, now = present()) {
  const text = String(timestamp);
  if (!/^\d{1,12}$/.test(text)) return null;
  const date = new Date(Number(text) * 1000);
  let unknown = false;
  let first = true;
  const shown = template.replace(/\{(\w+)\}/g, (match, token, at) => {
    const show = Object.hasOwn(TOKENS, token) ? TOKENS[token] : null;
    if (!show) unknown = true;
    const value = show ? show(date, now) : match;
    const capital = first && at === 0;
    first = false;
    return capital ? value.charAt(0).toUpperCase() + value.slice(1) : value;
  });
  return unknown ? null : shown;
}

export const momentOf = (ts) => new Date(Number(ts) * 1000);
export const clockTime = (ts) => plain(parts.time.format(momentOf(ts)));
export const fullTime = (when) => plain(parts.full.format(when));
export const dayKey = (ts) => momentOf(ts).toDateString();

export function dayName(ts, now = present()) {
  const name = TOKENS.day_divider_pretty(momentOf(ts), now);
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Rewrites what says "3 minutes ago" as time passes. */
export function refreshAgo(root = document) {
  for (const node of root.querySelectorAll("time[data-ago]")) {
    const shown = formatDate(node.dataset.ago, node.dataset.template);
    if (shown !== null && node.textContent !== shown) node.textContent = shown;
  }
}
