import type { Application } from "../../../core/applications/application.ts";
import {
  type ConsoleFrame,
  type ConsoleView,
  consoleLayout,
} from "../../../html/components/console-layout.ts";
import { textField } from "../../../html/components/fields.ts";
import { card, moment } from "../../../html/components/parts.ts";
import {
  type FormFailure,
  failureNotice,
  recordForm,
  successNotice,
} from "../../../html/components/record-form.ts";
import { nameCell, pager, rowLink, table } from "../../../html/components/table.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";

export type UsersView = ConsoleFrame &
  Pick<ConsoleView, "breadcrumbs"> & {
    application: Pick<Application, "name" | "settings">;
    csrf: string;
    action: string;
    settingsUri: string;
    users: ReadonlyArray<{
      id: string;
      email: string;
      assignedAt: number;
      assignedBy: string;
      uri: string;
      takeOffUri: string;
    }>;
    newestUri?: string | undefined;
    olderUri?: string | undefined;
    done: string | undefined;
    email: string;
    fault?: string | undefined;
    failure?: FormFailure | undefined;
  };

export function usersPage(view: UsersView): Html {
  const { messages, application } = view;
  const { users } = messages.console.applications;
  const isRestricted = application.settings.access === "assigned";
  return consoleLayout({
    ...view,
    title: users.title({ application: application.name }),
    heading: users.heading,
    summary: isRestricted ? users.restricted : users.unrestricted,
    notice: usersNotice(view),
    body: html`${
      !isRestricted &&
      html`<p><a id="access-change" href="${linkAddress(view.settingsUri)}">${users.change}</a></p>
`
    }${assignCard(view)}${listCard(view)}`,
  });
}

function usersNotice({ messages, done, failure, fault }: UsersView): Html | undefined {
  const { users } = messages.console.applications;
  if (failure) return failureNotice(failure, messages);
  if (fault !== undefined)
    return failureNotice({ kind: "faults", fields: [{ id: "email", label: users.email }] }, messages);
  if (done === "assigned") return successNotice(users.assigned);
  return done === "takenOff" ? successNotice(users.unassigned) : undefined;
}

function assignCard(view: UsersView): Html {
  const { messages, fault } = view;
  const { users } = messages.console.applications;
  return card({
    id: "assign",
    title: users.assignTitle,
    body: recordForm({
      id: "assign-form",
      action: view.action,
      csrf: view.csrf,
      fields: textField({
        id: "email",
        label: users.email,
        value: view.email,
        type: "email",
        maxLength: 254,
        fault,
        hasFocus: fault !== undefined,
        messages,
      }),
      submit: { id: "assign-submit", label: users.assign },
      messages,
    }),
  });
}

function listCard(view: UsersView): Html {
  const { messages } = view;
  const { users } = messages.console.applications;
  const rows = view.users.map((user) => ({
    id: `user-${user.id}`,
    cells: [
      nameCell({ name: user.email, uri: user.uri }),
      moment(user.assignedAt, messages.format.day),
      html`<bdi>${user.assignedBy}</bdi>`,
    ],
    actions: rowLink({
      id: `user-take-off-${user.id}`,
      uri: user.takeOffUri,
      text: users.unassign,
      label: users.unassignOf({ email: user.email }),
    }),
  }));
  const columns = [users.who, users.since, users.by];
  return card({
    id: "assigned",
    title: users.list,
    body: [
      rows.length === 0
        ? html`<p class="quiet">${users.none}</p>
`
        : table({ label: users.list, columns, rows, messages }),
      pager(view),
    ],
  });
}
