/** The forms that add many users: pasted CSV, pasted addresses, and what is about to happen. */
import {
  type ImportedUser,
  type ImportFault,
  importColumns,
  importLimits,
} from "../../../core/users/import/read-users.ts";
import { banner } from "../../../html/components/banner.ts";
import { checkField, textArea } from "../../../html/components/fields.ts";
import { fileText } from "../../../html/components/file-text.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { table } from "../../../html/components/table.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { memberPages } from "./user-pages.ts";

export type ImportInput = { list: string; invites: boolean };

/** `csv` has a header and columns; `addresses` is a list of email addresses, each of which is invited. */
export type ImportKind = "csv" | "addresses";

type ImportView = FormView<ImportInput>;

export function importPage(
  view: ImportView,
  kind: ImportKind,
  faults: readonly ImportFault[],
  canMail: boolean,
): Html {
  const { import: text } = view.messages.console.users;
  const words = kind === "csv" ? text.csv : text.addresses;
  const labels = { list: words.label, invites: text.invites };
  const field = fieldsOf(view, labels);
  const hint = kind === "csv" ? html`${words.hint} <code>${importColumns.join(", ")}</code>` : words.hint;
  return formPage({
    ...view,
    breadcrumbs: memberPages.listCrumbs(view),
    title: words.title,
    summary: words.summary,
    cardLabel: words.title,
    id: "import-form",
    labels,
    above: faults.length > 0 && faultList(faults, view.messages),
    fields: [
      kind === "csv" &&
        fileText({
          ...text.file,
          ...{ id: "file", field: "list", accept: ".csv,.txt,text/csv", maxBytes: importLimits.bytes },
          read: text.file.read({ name: "#" }),
        }),
      textArea({ ...field("list"), hint, rows: 12, isCode: true }),
      kind === "csv" &&
        canMail &&
        checkField({
          ...field("invites"),
          hint: text.invitesHint({ count: importLimits.invitations }),
          isChecked: view.input.invites,
        }),
    ],
    submit: { id: "import-check", label: text.check },
    cancelUri: view.consoleUri("/users"),
  });
}

const SHOWN_FAULTS = 50;

function faultList(faults: readonly ImportFault[], messages: Messages): Html {
  const { import: text } = messages.console.users;
  const line = ({ line: number, fault, text: about }: ImportFault) =>
    html`<li>${number > 0 && html`<b>${text.line({ number })}</b> `}${text.faults[fault]}${about !== undefined && html` <bdi class="quiet">${about.slice(0, 100)}</bdi>`}</li>
`;
  const lines = html`<ul>${faults.slice(0, SHOWN_FAULTS).map(line)}</ul>`;
  return banner("error", "import-faults", text.faulty({ count: faults.length }), lines);
}

const SHOWN_USERS = 20;

/** What the button will do. @param skipped addresses that are left out: they are members already */
export function importPreviewPage(
  view: ImportView,
  kind: ImportKind,
  { users, skipped }: { users: readonly ImportedUser[]; skipped: readonly ImportFault[] },
): Html {
  const { import: text, list, profile, roles } = view.messages.console.users;
  const { invites } = view.input;
  const count = users.length;
  const isLonger = count > SHOWN_USERS;
  const rows = table({
    label: text.preview,
    columns: [list.email, profile.firstname, profile.surname, list.role],
    rows: users.slice(0, SHOWN_USERS).map(({ email, firstname, surname, role }, index) => ({
      // Of pasted addresses a line has several.
      id: `line-${index}`,
      cells: [html`<bdi>${email}</bdi>`, firstname, surname, roles[role]],
    })),
    none: text.nobody,
    messages: view.messages,
  });
  const left: Content =
    skipped.length > 0 &&
    html`<details id="import-skipped"><summary>${text.skipped({ count: skipped.length })}</summary><ul>${skipped
      .slice(0, SHOWN_FAULTS)
      .map(
        ({
          fault,
          text: about,
        }) => html`<li><bdi>${about}</bdi> <span class="quiet">– ${text.faults[fault]}</span></li>
`,
      )}</ul></details>
`;
  const words = kind === "csv" ? text.csv : text.addresses;
  return formPage({
    ...view,
    breadcrumbs: memberPages.listCrumbs(view),
    title: words.title,
    summary: invites ? text.willInvite({ count }) : text.willCreate({ count }),
    cardLabel: words.title,
    id: "import-form",
    labels: {},
    above: html`${rows}${
      isLonger &&
      html`<p class="quiet">${text.more({ count: count - SHOWN_USERS })}</p>
`
    }${left}`,
    hidden: [
      { name: "list", value: view.input.list },
      { name: "confirmed", value: "yes" },
      ...(invites ? [{ name: "invites", value: "on" }] : []),
    ],
    fields: undefined,
    submit: { id: "import-confirm", label: invites ? text.invite({ count }) : text.submit({ count }) },
    cancelUri: view.consoleUri("/users"),
  });
}
