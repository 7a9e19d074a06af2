/** The forms that add many members to a group: pasted CSV, and what is about to happen to each of its lines. */

import type { CountedGroup } from "../../../core/groups/groups.store.ts";
import type { FatedMember, MemberFate } from "../../../core/groups/import/import-members.ts";
import {
  type MemberListFault,
  memberColumns,
  memberImportLimits,
} from "../../../core/groups/import/read-members.ts";
import { textArea } from "../../../html/components/fields.ts";
import { fileText } from "../../../html/components/file-text.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { table } from "../../../html/components/table.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { groupPages } from "./group-pages.ts";

export type MemberImportInput = { list: string };

/** Of a list that is read: what happens to each line, and the names of those whom lines name. */
export interface ReadImport {
  readonly lines: readonly FatedMember[];
  readonly names: ReadonlyMap<string, string>;
}

type ImportView = FormView<MemberImportInput> & { readonly group: CountedGroup };

const SHOWN_LINES = 100;

const frameOf = (view: ImportView) => {
  const { import: text } = view.messages.console.groups.members;
  return {
    ...view,
    breadcrumbs: groupPages.crumbs(view, view.group),
    title: text.title({ group: view.group.displayName }),
    cardLabel: text.title({ group: view.group.displayName }),
    id: "member-import-form",
    cancelUri: view.consoleUri(`/groups/${view.group.id}/members`),
  };
};

/** @param read of a list of which nobody is added */
export function memberImportPage(view: ImportView, read?: ReadImport): Html {
  const { members: text } = view.messages.console.groups;
  const { file } = view.messages.console.users.import;
  const labels = { list: text.import.label };
  const field = fieldsOf(view, labels);
  return formPage({
    ...frameOf(view),
    summary: text.import.summary,
    labels,
    above: read && leftOut(read, view.messages),
    fields: [
      fileText({
        ...{ label: file.label, hint: file.hint, tooLarge: file.tooLarge, read: file.read({ name: "#" }) },
        ...{ id: "file", field: "list", accept: ".csv,.txt,text/csv", maxBytes: memberImportLimits.bytes },
      }),
      textArea({
        ...field("list"),
        hint: html`${text.import.hint} <code>${memberColumns.join(", ")}</code>`,
        ...{ rows: 12, isCode: true },
      }),
    ],
    submit: { id: "member-import-check", label: text.import.check },
  });
}

/** What the button will do. */
export function memberImportPreview(view: ImportView, read: ReadImport): Html {
  const { members: text } = view.messages.console.groups;
  const added = read.lines.filter(({ fate }) => fate === "add");
  const count = added.length;
  return formPage({
    ...frameOf(view),
    summary: text.import.willAdd({ count }),
    labels: {},
    above: [
      html`<h2>${text.import.added}</h2>
`,
      linesTable(added, read, view.messages, text.import.added),
      leftOut(read, view.messages),
    ],
    hidden: [
      { name: "list", value: view.input.list },
      { name: "confirmed", value: "yes" },
    ],
    fields: undefined,
    submit: { id: "member-import-confirm", label: text.import.submit({ count }) },
  });
}

function leftOut(read: ReadImport, messages: Messages): Content {
  const { import: text } = messages.console.groups.members;
  const lines = read.lines.filter(({ fate }) => fate !== "add");
  if (lines.length === 0) return undefined;
  const title = text.leftOut({ count: lines.length });
  return [
    html`<h2 id="import-left-out">${title}</h2>
`,
    linesTable(lines, read, messages, title),
  ];
}

function linesTable(
  lines: readonly FatedMember[],
  { names }: ReadImport,
  messages: Messages,
  label: string,
): Content {
  const { members: text } = messages.console.groups;
  const rows = lines.slice(0, SHOWN_LINES).map(({ line, text: typed, member, fate }) => {
    const name = member && names.get(member.id);
    return {
      id: `line-${line}`,
      cells: [
        html`<bdi>${typed.slice(0, 100)}</bdi>${name !== undefined && name !== typed && html`<span class="quiet item-note"><bdi>${name}</bdi></span>`}`,
        messages.format.number(line),
        fate === "add" ? member && text.types[member.type] : fateText(fate, messages),
      ],
    };
  });
  const more = lines.length - SHOWN_LINES;
  const last = lines[0]?.fate === "add" ? text.type : text.import.fate;
  return [
    table({ label, columns: [text.import.entry, text.import.line, last], rows, messages }),
    more > 0 &&
      html`<p class="quiet">${messages.console.users.import.more({ count: more })}</p>
`,
  ];
}

const fateText = (fate: Exclude<MemberFate, "add">, { console: { groups } }: Messages): string => {
  const { members: text } = groups;
  const texts = { ...text.import.fates, "group-cycle": text.cycle, "group-depth": text.depth };
  return texts[fate];
};

export const listFaultText = (
  { fault, line = 0 }: { readonly fault: MemberListFault; readonly line?: number },
  { console: { groups, users } }: Messages,
): string => {
  const text = groups.members.import.faults[fault];
  return line > 0 ? `${users.import.line({ number: line })} ${text}` : text;
};
