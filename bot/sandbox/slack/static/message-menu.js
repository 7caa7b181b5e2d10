// What can be done with one message: the app's message shortcuts, and what Slack itself offers.

import { control } from "./control.js";
import { icon } from "./dom.js";
import { openMenu } from "./popup.js";
import { state } from "./state.js";
import { explain } from "./surface.js";
import { toast } from "./toast.js";

/** `reply` opens the message's thread; without it, that isn't offered. */
export function openMessageMenu(anchor, channel, message, reply) {
  const { app } = state.directory;
  const shortcuts = (app.shortcuts ?? []).filter((shortcut) => shortcut.type === "message");
  openMenu(anchor, "Message actions", [
    ...(reply ? [{ label: "Reply in thread", mark: icon("reply"), pick: reply }] : []),
    { label: "Copy link", mark: icon("link"), pick: () => copyLink(channel, message) },
    ...shortcuts.map((shortcut) => ({
      label: shortcut.name,
      detail: app.name,
      mark: icon("bolt"),
      pick: () => run(shortcut, channel, message),
    })),
  ]);
}

async function run(shortcut, channel, message) {
  try {
    const where = { channel, ts: message.ts };
    const answer = await control.shortcut(state.user, shortcut.callback_id, where);
    if (answer.acknowledged === false) {
      toast(`“${shortcut.name}” did not work: ${explain(answer.error, answer.detail)}`);
    }
  } catch (error) {
    toast(`“${shortcut.name}” did not work: ${explain(error.code, error.message)}`);
  }
}

async function copyLink(channel, message) {
  const path = `/archives/${channel}/p${message.ts.replace(".", "")}`;
  const thread = message.thread_ts ? `?thread_ts=${message.thread_ts}` : "";
  const link = `${location.origin}${path}${thread}`;
  try {
    await navigator.clipboard.writeText(link);
  } catch {
    // The browser may refuse the clipboard: then the link can be copied by hand.
    toast(`The link to this message: ${link}`);
  }
}
