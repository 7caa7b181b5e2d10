// Shows Block Kit blocks; a kind that is not known here is a labelled placeholder, never silence.

import { renderChart } from "./charts.js";
import { el, uniqueId } from "./dom.js";
import { renderElement } from "./elements.js";
import { renderMarkdown } from "./markdown.js";
import { safeUrl } from "./mentions.js";
import { renderPlain, renderText } from "./mrkdwn.js";
import { inlineNodes, renderRichText } from "./richtext.js";

/** `surface` says where the blocks stand and what their elements do: see surface.js. */
export function renderBlocks(blocks, surface) {
  return (Array.isArray(blocks) ? blocks : []).map((block, index) => {
    const node = renderBlock(block ?? {}, surface);
    node.dataset.block = block?.block_id ?? `block-${index}`;
    return node;
  });
}

const RENDERERS = {
  section: renderSection,
  header: (block) =>
    el(
      "div",
      {
        class: "block block-header",
        role: "heading",
        "aria-level": Math.min(Math.max(Number(block.level) || 2, 2), 6),
      },
      renderPlain(block.text?.text, block.text?.emoji !== false),
    ),
  context: renderContext,
  actions: renderActions,
  context_actions: renderActions,
  divider: () => el("div", { class: "block block-divider" }, el("hr")),
  image: renderImageBlock,
  input: renderInput,
  rich_text: (block, surface) =>
    el("div", { class: "block block-rich" }, renderRichText(block, surface.directory)),
  table: renderTable,
  data_visualization: renderChart,
  markdown: (block) => el("div", { class: "block block-markdown" }, renderMarkdown(block.text)),
  alert: (block, surface) =>
    el(
      "div",
      { class: `block block-alert block-alert-${block.level ?? "default"}`, role: "note" },
      renderText(block.text, surface.directory),
    ),
};

function renderBlock(block, surface) {
  const render = Object.hasOwn(RENDERERS, block.type) ? RENDERERS[block.type] : null;
  if (!render) return unsupported(block.type);
  try {
    return render(block, surface);
  } catch (error) {
    console.error("A block could not be shown", block, error);
    return unsupported(block.type, "could not be shown");
  }
}

function unsupported(type, why = "is not shown in this workspace") {
  return el(
    "div",
    { class: "block unsupported" },
    `The block “${type ?? "without a type"}” ${why}.`,
  );
}

function renderSection(block, surface) {
  const body = el("div", { class: "section-body" });
  if (block.text)
    body.append(el("div", { class: "section-text" }, renderText(block.text, surface.directory)));
  if (block.fields?.length)
    body.append(
      el(
        "div",
        { class: "fields" },
        block.fields.map((field) =>
          el("div", { class: "field" }, renderText(field, surface.directory)),
        ),
      ),
    );
  const accessory = block.accessory && accessoryNode(block, surface);
  return el(
    "div",
    { class: accessory ? "block block-section with-accessory" : "block block-section" },
    body,
    accessory,
  );
}

function accessoryNode(block, surface) {
  if (block.accessory.type === "image")
    return el("div", { class: "accessory accessory-image" }, picture(block.accessory));
  return el("div", { class: "accessory" }, renderElement(block.accessory, block, surface));
}

function renderContext(block, surface) {
  const items = (block.elements ?? []).map((element) =>
    element.type === "image"
      ? picture(element)
      : el("span", { class: "context-text" }, renderText(element, surface.directory)),
  );
  return el("div", { class: "block block-context" }, items);
}

function renderActions(block, surface) {
  return el(
    "div",
    { class: "block block-actions" },
    (block.elements ?? []).map((element) => renderElement(element, block, surface)),
  );
}

function picture(image) {
  const address = safeUrl(image.image_url ?? image.slack_file?.url);
  if (!address) return el("span", { class: "unsupported" }, image.alt_text || "Picture");
  const node = el("img", {
    src: address,
    alt: image.alt_text ?? "",
    loading: "lazy",
    referrerpolicy: "no-referrer",
  });
  node.addEventListener("error", () =>
    node.replaceWith(
      el(
        "span",
        { class: "picture-missing", role: "img", "aria-label": image.alt_text ?? "" },
        image.alt_text || "Picture that could not be loaded",
      ),
    ),
  );
  return node;
}

function renderImageBlock(block) {
  const title =
    block.title && el("figcaption", {}, renderPlain(block.title.text, block.title.emoji !== false));
  return el("figure", { class: "block block-image" }, title, picture(block));
}

function renderTable(block, surface) {
  const settings = block.column_settings ?? [];
  const row = (cells, tag) =>
    el(
      "tr",
      {},
      (cells ?? []).map((cell, column) =>
        el(
          tag,
          { class: cellClass(settings[column], cell), scope: tag === "th" ? "col" : null },
          cellNodes(cell, surface),
        ),
      ),
    );
  const [head, ...rows] = block.rows ?? [];
  const table = el(
    "table",
    { class: "table" },
    head && el("thead", {}, row(head, "th")),
    el(
      "tbody",
      {},
      rows.map((cells) => row(cells, "td")),
    ),
  );
  return el(
    "div",
    { class: "block table-frame", tabindex: 0, role: "region", "aria-label": "Table" },
    table,
  );
}

function cellClass(setting, cell) {
  const align = ["left", "center", "right"].includes(setting?.align)
    ? setting.align
    : cell?.type === "raw_number"
      ? "right"
      : "left";
  return setting?.is_wrapped ? `align-${align} wrapped` : `align-${align}`;
}

function cellNodes(cell, surface) {
  if (cell?.type === "rich_text") return renderRichText(cell, surface.directory);
  if (Array.isArray(cell?.elements)) return inlineNodes(cell.elements, surface.directory);
  return String(cell?.text ?? cell?.value ?? "");
}

/** A labelled form block. Its error line is filled by the modal that owns it. */
function renderInput(block, surface) {
  const id = uniqueId("input");
  const names = {
    label: `${id}-label`,
    hint: block.hint ? `${id}-hint` : null,
    error: `${id}-error`,
  };
  const control = renderElement(block.element ?? {}, block, surface, names);
  const label = el(
    "div",
    { class: "input-label", id: names.label },
    renderPlain(block.label?.text, block.label?.emoji !== false),
    block.optional && el("span", { class: "optional" }, " (optional)"),
  );
  return el(
    "div",
    { class: "block block-input", dataset: { input: block.block_id ?? "" } },
    label,
    control,
    block.hint &&
      el(
        "div",
        { class: "input-hint", id: names.hint },
        renderPlain(block.hint.text, block.hint.emoji !== false),
      ),
    el("div", { class: "input-error", id: names.error, hidden: true }),
  );
}
