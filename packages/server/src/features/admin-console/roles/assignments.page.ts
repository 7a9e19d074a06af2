/** The assignments tab of a role. */
import { type Assignment, type SubjectType, subjectTypes } from "../../../core/roles/assignments.store.ts";
import type { ListedMember } from "../../../core/users/members/members.store.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
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
import { queryString } from "../../../page-kit/page.ts";
import { displayName } from "../users/user-pages.ts";
import type { ShownRole } from "./role-pages.ts";
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

/** Of a built-in role: the first of those who have it, and where the others are. */
export function holdersContent({
  role,
  users,
  messages,
  consoleUri,
}: ConsoleFrame & { readonly role: ShownRole; readonly users: readonly ListedMember[] }): Html {
  const { builtIn, assignments: text } = messages.console.roles;
  return card({
    id: "holders",
    title: text.title,
    text: builtIn.text,
    actions: buttonLink({
      id: "holders-all",
      uri: consoleUri(`/users${queryString({ role: role.key })}`),
      label: builtIn.all,
    }),
    body: table({
      label: text.title,
      columns: [text.who, messages.console.users.list.email],
      rows: users.map((user) => ({
        id: `holder-${user.id}`,
        cells: [
          nameCell({ name: displayName(user), uri: consoleUri(`/users/${user.id}`) }),
          html`<bdi>${user.email}</bdi>`,
        ],
      })),
      none: text.none,
      messages,
    }),
  });
}
