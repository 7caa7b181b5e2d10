// Shows the select menus of Block Kit, for one choice or several, from fixed, workspace or app
// options.

import { control } from "./control.js";
import { personName } from "./mentions.js";
import { renderPlain } from "./mrkdwn.js";
import { finder, Picker } from "./picker.js";

/** For each kind: where options come from and the payload field of the choice. */
export const SELECTS = {
  static_select: { source: fixed, field: "selected_option", initial: "initial_option" },
  external_select: { source: fromApp, field: "selected_option", initial: "initial_option" },
  users_select: { source: people, field: "selected_user", initial: "initial_user" },
  conversations_select: {
    source: conversations,
    field: "selected_conversation",
    initial: "initial_conversation",
  },
  channels_select: { source: channels, field: "selected_channel", initial: "initial_channel" },
  multi_static_select: {
    source: fixed,
    field: "selected_options",
    initial: "initial_options",
    multiple: true,
  },
  multi_external_select: {
    source: fromApp,
    field: "selected_options",
    initial: "initial_options",
    multiple: true,
  },
  multi_users_select: {
    source: people,
    field: "selected_users",
    initial: "initial_users",
    multiple: true,
  },
  multi_conversations_select: {
    source: conversations,
    field: "selected_conversations",
    initial: "initial_conversations",
    multiple: true,
  },
  multi_channels_select: {
    source: channels,
    field: "selected_channels",
    initial: "initial_channels",
    multiple: true,
  },
};

const PLACEHOLDERS = {
  users: "Choose a person",
  conversations: "Choose a conversation",
  channels: "Choose a channel",
};

function optionOf(option, group) {
  return {
    key: option.value,
    label: option.text?.text ?? option.value,
    node: () => renderPlain(option.text?.text, option.text?.emoji !== false),
    detail: option.description?.text,
    group,
    raw: option,
  };
}

function flatten(answer) {
  const groups = (answer.option_groups ?? []).flatMap((group) =>
    (group.options ?? []).map((option) => optionOf(option, group.label?.text ?? "")),
  );
  return [...(answer.options ?? []).map((option) => optionOf(option)), ...groups];
}

function fixed(element) {
  return finder(flatten(element));
}

function fromApp(element, block, surface) {
  const least = element.min_query_length ?? 3;
  return async (typed) => {
    if (typed.length < least)
      throw new Error(`Type at least ${least} character${least === 1 ? "" : "s"} to search`);
    const answer = await control.suggestions({
      user: surface.directory.viewer.id,
      container: surface.container,
      block_id: block.block_id,
      action_id: element.action_id,
      value: typed,
    });
    return flatten(answer);
  };
}

function people(_element, _block, surface) {
  const humans = surface.directory.users.filter((user) => !user.deleted);
  return finder(
    humans.map((user) => ({
      key: user.id,
      label: personName(user),
      detail: `@${user.name}${user.is_bot ? " · app" : ""}`,
      raw: user.id,
    })),
  );
}

const channelOption = (channel) => ({
  key: channel.id,
  label: channel.kind === "im" ? channel.name : `#${channel.name}`,
  detail: channel.is_private ? "private" : undefined,
  raw: channel.id,
});

function channels(_element, _block, surface) {
  return finder(
    surface.directory.channels
      .filter((channel) => channel.kind === "public" && !channel.is_archived)
      .map(channelOption),
  );
}

function conversations(element, _block, surface) {
  const include = element.filter?.include ?? ["public", "private", "im", "mpim"];
  const allowed = (channel) =>
    include.includes(channel.kind) &&
    !channel.is_archived &&
    !(element.filter?.exclude_external_shared_channels && channel.is_ext_shared);
  return finder(surface.directory.channels.filter(allowed).map(channelOption));
}

function initialOptions(kind, element, block, surface) {
  const kept = surface.kept(block, element);
  const current = kept ? kept[kind.field] : element[kind.initial];
  const list = kind.multiple ? (current ?? []) : current ? [current] : [];
  const known = typeof list[0] === "string" ? kind.source(element, block, surface)("") : [];
  return list.map((one) =>
    typeof one === "string"
      ? (known.find((option) => option.key === one) ?? { key: one, label: one, raw: one })
      : optionOf(one),
  );
}

export function renderSelect(element, block, surface, names) {
  const kind = SELECTS[element.type];
  const fields = (chosen) => ({
    [kind.field]: kind.multiple ? chosen.map((option) => option.raw) : (chosen[0]?.raw ?? null),
  });
  let before = initialOptions(kind, element, block, surface);
  const placeholder =
    element.placeholder?.text ??
    PLACEHOLDERS[element.type.replace(/^multi_|_select$/g, "").replace("_select", "")] ??
    "Choose an option";
  const picker = new Picker({
    find: kind.source(element, block, surface),
    chosen: before,
    multiple: Boolean(kind.multiple),
    most: element.max_selected_items,
    placeholder,
    names,
    label: placeholder,
    focusKey: surface.focusKey(block, element),
    onChange: async (chosen) => {
      if (await surface.changed(block, element, fields(chosen), picker.node)) {
        before = chosen;
        return;
      }
      picker.chosen = before;
      picker.showChosen();
    },
  });
  picker.node.dataset.action = element.action_id ?? "";
  surface.register(block, element, () => fields(picker.chosen));
  if (element.focus_on_load) picker.input.dataset.first = "";
  return picker.node;
}
