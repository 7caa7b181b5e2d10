// What Slack's client itself refuses before a modal is sent: missing answers, lengths, numbers and
// addresses.

import { countCharacters } from "./inputs.js";
import { safeUrl } from "./mentions.js";

const isEmpty = (fields) =>
  Object.entries(fields).every(
    ([name, value]) =>
      name === "type" ||
      value === null ||
      value === undefined ||
      (Array.isArray(value) && !value.length),
  );

/**
 * Errors by block_id, for the input blocks of a view whose `values` are block_id → action_id →
 * fields.
 */
export function checkValues(blocks, values) {
  const errors = {};
  for (const block of blocks ?? []) {
    if (block.type !== "input") continue;
    const fields = values[block.block_id]?.[block.element?.action_id] ?? {};
    const wrong = isEmpty(fields)
      ? block.optional
        ? null
        : "Please complete this required field."
      : checkValue(block.element, fields.value);
    if (wrong) errors[block.block_id] = wrong;
  }
  return errors;
}

function checkValue(element, value) {
  switch (element.type) {
    case "plain_text_input":
      return checkLength(element, countCharacters(value));
    case "number_input":
      return checkNumber(element, value);
    case "email_text_input":
      return /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value)
        ? null
        : "Please enter a valid email address.";
    case "url_text_input":
      return safeUrl(value)
        ? null
        : "Please enter a valid address that begins with https:// or http://.";
    default:
      return null;
  }
}

function checkLength({ min_length: least, max_length: most }, length) {
  if (least && length < least)
    return `Please enter at least ${least} character${least === 1 ? "" : "s"}.`;
  if (most && length > most)
    return `Please enter at most ${most} characters: this is ${length - most} too many.`;
  return null;
}

function checkNumber({ is_decimal_allowed: decimals, min_value: least, max_value: most }, value) {
  if (!(decimals ? /^-?\d+(\.\d+)?$/ : /^-?\d+$/).test(value))
    return decimals ? "Please enter a number." : "Please enter a whole number.";
  if (least !== undefined && Number(value) < Number(least)) return `Please enter ${least} or more.`;
  if (most !== undefined && Number(value) > Number(most)) return `Please enter ${most} or less.`;
  return null;
}
