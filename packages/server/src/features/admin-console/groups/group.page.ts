/** The parts of a group's page, and its form. */
import type { CountedGroup } from "../../../core/groups/groups.store.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { textField } from "../../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { recordIcon } from "../../../html/components/record-heading.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { RecordParts, RecordView } from "../../../page-kit/record-pages.ts";
import type { GroupInput } from "./group-input.ts";

export type GroupView = RecordView<CountedGroup>;

export const sourceText = (group: CountedGroup, { console: { groups } }: Messages): string =>
  groups.sources[group.source];

/** What stands above every tab. */
export function aboveGroup({ record: group, uriOf, messages }: GroupView): RecordParts {
  const { groups: text } = messages.console;
  const remove = { id: "group-delete", uri: uriOf("/delete"), label: text.deleteGroup };
  return {
    head: {
      name: group.displayName,
      mark: recordIcon("groups"),
      facts: [sourceText(group, messages), text.memberCount({ count: group.memberCount })],
      id: { id: "group-id", value: group.id, label: text.id },
    },
    actions: buttonLink({ id: "group-edit", uri: uriOf("/edit"), label: text.edit }),
    more: [{ ...remove, isQuestion: true, isDangerous: true }],
    done: text.done,
  };
}

export function groupGeneral({ record: group, messages }: GroupView): Html {
  const { groups: text } = messages.console;
  return card({
    id: "group-details",
    title: text.details,
    ...(group.source === "local" ? {} : { text: text.readOnly }),
    body: facts([
      {
        label: text.description,
        content: group.description !== null && html`<bdi>${group.description}</bdi>`,
      },
      {
        label: text.externalId,
        content: group.externalId !== null && html`<code>${group.externalId}</code>`,
      },
      { label: text.columns.source, content: sourceText(group, messages) },
      { label: text.columns.created, content: relativeTime(group.createdAt, messages.format.day) },
    ]),
  });
}

/** @param before undefined for a new group */
export function groupFormPage(view: FormView<GroupInput>, before?: CountedGroup): Html {
  const { frame, groups: text } = view.messages.console;
  const backUri = view.consoleUri(before ? `/groups/${before.id}` : "/groups");
  const labels = { displayName: text.name, description: text.description, externalId: text.externalId };
  const field = fieldsOf(view, labels);
  return formPage({
    ...view,
    title: before ? text.editTitle({ name: before.displayName }) : text.makeTitle,
    breadcrumbs: [
      { label: frame.pages.groups, uri: view.consoleUri("/groups") },
      ...(before ? [{ label: before.displayName, uri: backUri }] : []),
    ],
    id: "group-form",
    labels,
    fields: [
      textField(field("displayName")),
      textField({ ...field("description"), isOptional: true }),
      textField({ ...field("externalId"), hint: text.externalIdHint, isCode: true, isOptional: true }),
    ],
    submit: { id: "group-save", label: before ? text.save : text.create },
    cancelUri: backUri,
  });
}
