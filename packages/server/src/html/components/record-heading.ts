/** The head of a record's page: its mark and name; below, its status, what it is, and its ID to copy. */
import { type Content, type Html, html } from "../html.ts";
import type { Messages } from "../messages/messages.ts";
import type { ConsoleView } from "./console-view.ts";
import { copyField } from "./copy-field.ts";
import { type IconName, icon } from "./icons.ts";

export type RecordHeading = {
  name: string;
  mark: Html;
  /** Of these one line is made; the first is the status. */
  facts: readonly Content[];
  id?: { id: string; value: string; label: string };
};

export const recordHeading = (
  { name, mark, facts, id }: RecordHeading,
  { console: { frame } }: Messages,
): Pick<ConsoleView, "heading" | "summary" | "isRecord"> => ({
  isRecord: true,
  heading: html`<span class="record-name">${mark}<bdi>${name}</bdi></span>`,
  summary: html`<span class="record-line">${facts.map((fact) => fact && html`<span>${fact}</span> `)}${id && copyField({ ...id, ...frame.secret, label: id.label })}</span>`,
});

/** In place of an avatar, for what has no face. */
export const recordIcon = (name: IconName): Html => html`<span class="mark glyph">${icon(name)}</span>`;
