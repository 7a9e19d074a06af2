/** The assignments tab of a role. */
import { type Assignment, type SubjectType, subjectTypes } from "../../../core/roles/assignments.store.ts";
import { card } from "../../../html/components/card.ts";
import { selectField, textField } from "../../../html/components/fields.ts";
import { fieldsOf } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { pagination } from "../../../html/components/pagination.ts";
import { recordForm } from "../../../html/components/record-form.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, rowLink, table } from "../../../html/components/table.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { listCard } from "../../../page-kit/list/list-route.ts";
import { subjectPath } from "./subjects.store.ts";

export type AssignmentInput = { subjectType: SubjectType; subject: string };

export type AssignmentsView = FormView<AssignmentInput> & {
  readonly assignments: ReadonlyArray<Assignment & { readonly name: string; readonly by: string }>;
  readonly newestUri: string | undefined;
  readonly olderUri: string | undefined;
};

export const assignmentLabels = ({ console: { roles } }: Messages) => ({
  subjectType: roles.assignments.type,
  subject: roles.assignments.subject,
});

export const assignmentsContent = (view: AssignmentsView): Content => [assignCard(view), listOf(view)];

function assignCard(view: AssignmentsView): Html {
  const { assignments: text } = view.messages.console.roles;
  const field = fieldsOf(view, assignmentLabels(view.messages));
  return card({
    id: "assign",
    title: text.assignTitle,
    text: text.assignText,
    body: recordForm({
      ...view,
      isWide: false,
      id: "assignment-form",
      fields: [
        selectField({
          ...field("subjectType"),
          choices: subjectTypes.map((value) => ({ value, label: text.types[value] })),
        }),
        textField({ ...field("subject"), hint: text.subjectHint, maxLength: 254 }),
      ],
      submit: { id: "assign-submit", label: text.assign },
    }),
  });
}

function listOf(view: AssignmentsView): Html {
  const { messages, consoleUri, action } = view;
  const { assignments: text } = messages.console.roles;
  const rows = view.assignments.map((assignment) => ({
    id: `assignment-${assignment.id}`,
    cells: [
      nameCell({ name: assignment.name, uri: consoleUri(subjectPath(assignment)) }),
      text.types[assignment.subjectType],
      relativeTime(assignment.createdAt, messages.format.day),
      html`<bdi>${assignment.by}</bdi>`,
    ],
    actions: rowLink({
      id: `assignment-remove-${assignment.id}`,
      uri: `${action}/${assignment.id}/remove`,
      text: text.remove,
      label: text.removeOf({ name: assignment.name }),
      isQuestion: true,
    }),
  }));
  const columns = [text.who, text.type, text.since, text.by];
  return listCard(
    text.title,
    html`${table({ label: text.title, columns, rows, none: text.none, messages })}${pagination(view)}`,
  );
}
