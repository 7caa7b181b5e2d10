// What this browser remembers: person, channel, theme, dismissed tips, typed commands. Storage may
// be refused; then nothing is remembered.

const PREFIX = "sandbox.slack.";

export function remember(key, value) {
  try {
    localStorage.setItem(PREFIX + key, JSON.stringify(value));
    sessionStorage.setItem(PREFIX + key, JSON.stringify(value));
  } catch {
    // A browser that refuses storage still shows the workspace; it only starts afresh each time.
  }
}

export function recall(key, otherwise = null) {
  try {
    const stored = localStorage.getItem(PREFIX + key);
    return stored === null ? otherwise : JSON.parse(stored);
  } catch {
    return otherwise;
  }
}

/** What this tab remembers before what the browser does, so that two tabs can be two people. */
export function recallHere(key) {
  try {
    const here = sessionStorage.getItem(PREFIX + key);
    return here === null ? recall(key) : JSON.parse(here);
  } catch {
    return null;
  }
}

const THEMES = ["system", "light", "dark"];

export function applyTheme(theme = recall("theme", "system")) {
  const known = THEMES.includes(theme) ? theme : "system";
  document.documentElement.dataset.theme = known;
  return known;
}

/** Light or dark as it looks now, the system's choice included. */
export function shownTheme() {
  const theme = document.documentElement.dataset.theme;
  if (theme === "light" || theme === "dark") return theme;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function toggleTheme() {
  const theme = shownTheme() === "dark" ? "light" : "dark";
  remember("theme", theme);
  applyTheme(theme);
  return theme;
}
