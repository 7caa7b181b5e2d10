// What to offer while somebody types: declared commands, the words of their usage hints, emoji.

import { findEmoji } from "./emoji.js";

/**
 * The alternatives of a usage hint such as "status | pause [reason] | help": their verb and what
 * follows it.
 */
function verbsOf(command) {
  const pieces = (command.usage_hint ?? "")
    .replace(/^\[|\]$/g, "")
    .split("|")
    .map((piece) => piece.trim());
  return pieces
    .filter((piece) => /^[a-z][\w-]*(\s|$)/i.test(piece))
    .map((piece) => {
      const [verb, ...rest] = piece.split(/\s+/);
      return { verb, rest: rest.join(" ") };
    });
}

/** Commands a newcomer can try at once, made of what the manifest declares. */
export function examplesOf(commands) {
  const [command] = commands;
  if (!command) return [];
  const verbs = verbsOf(command);
  const chosen = [
    verbs.find(({ verb }) => verb === "status"),
    verbs.find(({ verb }) => verb === "pause"),
  ].filter(Boolean);
  const words = (chosen.length ? chosen : verbs.slice(0, 2)).map(({ verb, rest }) =>
    [command.command, verb, /reason/i.test(rest) ? "CI is down" : ""].filter(Boolean).join(" "),
  );
  return words.length ? words : [command.command];
}

/**
 * `typed` is the text up to the caret. `preselect` says whether Enter picks the first or sends the
 * text.
 */
export function suggest(typed, commands) {
  const emoji = /(^|\s):([a-z0-9_+-]{2,})$/.exec(typed);
  if (emoji) {
    const start = typed.length - emoji[2].length - 1;
    const options = findEmoji(emoji[2]).map(({ name, character }) => ({
      mark: character,
      label: `:${name}:`,
      insert: `${typed.slice(0, start)}:${name}: `,
    }));
    return { options, preselect: true };
  }
  if (/^\/\S*$/.test(typed)) {
    const options = commands
      .filter((command) => command.command.startsWith(typed.toLowerCase()))
      .map((command) => ({
        label: command.command,
        hint: command.usage_hint,
        detail: command.description,
        insert: `${command.command} `,
      }));
    return { options, preselect: !commands.some((command) => command.command === typed) };
  }
  const begun = /^(\/\S+)\s+(\S*)$/.exec(typed);
  const command = begun && commands.find((one) => one.command === begun[1]);
  if (!command) return { options: [], preselect: false };
  const options = verbsOf(command)
    .filter(({ verb }) => verb.startsWith(begun[2]) && verb !== begun[2])
    .map(({ verb, rest }) => ({
      label: `${command.command} ${verb}`,
      hint: rest,
      insert: `${command.command} ${verb}${rest ? " " : ""}`,
    }));
  return { options, preselect: false };
}
