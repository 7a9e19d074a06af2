/** The groups assigned to an application. */

import type { AssignedGroup } from "../../../core/application-access/application-access.store.ts";
import type { Application } from "../../../core/applications/application.ts";
import { card } from "../../../html/components/card.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { textField } from "../../../html/components/fields.ts";
import { fieldsOf, formNotice } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { pagination } from "../../../html/components/pagination.ts";
import { recordForm } from "../../../html/components/record-form.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, rowLink, table } from "../../../html/components/table.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Html, html } from "../../../html/html.ts";
import { listCard } from "../../../page-kit/list/list-route.ts";

export type GroupAccessInput = { group: string };

export type GroupAccessView = FormView<GroupAccessInput> & {
  readonly application: Application;
  readonly groups: readonly AssignedGroup[];
  readonly newestUri: string | undefined;
  readonly olderUri: string | undefined;
  readonly done: string | undefined;
};

export function groupAccessPage(view: GroupAccessView): Html {
  const { messages, application, done, consoleUri } = view;
  const { access: text, done: doneTexts } = messages.console.groups;
  const isRestricted = application.settings.access === "assigned";
  const success = done === "assigned" || done === "unassigned" ? doneTexts[done] : undefined;
  return consoleLayout({
    ...view,
    breadcrumbs: [
      { label: messages.console.frame.pages.applications, uri: consoleUri("/applications") },
      { label: application.name, uri: consoleUri(`/applications/${application.id}/access`) },
    ],
    title: text.title({ application: application.name }),
    heading: text.heading,
    summary: isRestricted ? text.restricted : text.unrestricted,
    notice:
      formNotice({ ...view, labels: { group: text.group } }) ??
      (success === undefined ? undefined : toast(success, view)),
    body: [assignCard(view), assignedCard(view)],
  });
}

function assignCard(view: GroupAccessView): Html {
  const { access: text } = view.messages.console.groups;
  const field = fieldsOf(view, { group: text.group });
  return card({
    id: "assign-group",
    title: text.assignTitle,
    body: recordForm({
      ...view,
      isWide: false,
      id: "group-access-form",
      fields: textField({ ...field("group"), hint: text.groupHint, maxLength: 254 }),
      submit: { id: "group-assign", label: text.assign },
    }),
  });
}

function assignedCard(view: GroupAccessView): Html {
  const { messages, consoleUri, action } = view;
  const { access: text } = messages.console.groups;
  const rows = view.groups.map(({ id, displayName, assignedAt }) => ({
    id: `group-${id}`,
    cells: [
      nameCell({ name: displayName, uri: consoleUri(`/groups/${id}`) }),
      relativeTime(assignedAt, messages.format.day),
    ],
    actions: rowLink({
      id: `group-take-off-${id}`,
      uri: `${action}/${id}/take-off`,
      text: text.unassign,
      label: text.unassignOf({ group: displayName }),
      isQuestion: true,
    }),
  }));
  const columns = [messages.console.groups.columns.name, text.since];
  return listCard(
    text.heading,
    html`${table({ label: text.heading, columns, rows, none: text.none, messages })}${pagination(view)}`,
  );
}
