/** Certificate authorities that an organisation trusts for its clients (RFC 8705 §2.1), and the page of one. */
import type { FastifyInstance } from "fastify";
import {
  findClientAuthority,
  listClientAuthorities,
} from "../../../core/client-authorities/client-authorities.store.ts";
import {
  type ClientAuthoritySettings,
  changeClientAuthority,
  createClientAuthority,
  deleteClientAuthority,
} from "../../../core/client-authorities/client-authorities.ts";
import {
  type ClientAuthority,
  InvalidClientAuthority,
  MAX_CERTIFICATE_LENGTH,
} from "../../../core/client-authorities/client-authority.ts";
import { lockOrganisation } from "../../../core/organisations/organisations.store.ts";
import { card, facts } from "../../../html/components/card.ts";
import { codeBlock } from "../../../html/components/code-block.ts";
import { textArea, textField } from "../../../html/components/fields.ts";
import { fieldsOf } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { type Content, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { listRoute } from "../../../page-kit/list/list-route.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { type RecordView, recordPages } from "../../../page-kit/record-pages.ts";
import { enabledField, yesOrNo } from "../plain-records/fields.ts";
import { plainList } from "../plain-records/plain-list.ts";
import type { PlainRecord } from "../plain-records/plain-record.ts";
import { plainRecordRoutes } from "../plain-records/plain-record-routes.ts";

export function clientAuthoritiesRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  listRoute(app, deps, "/oauth/manage/:org/client-authorities", authorityList);
  plainRecordRoutes(app, deps, authorityRecord, {
    create: "/oauth/manage/:org/client-authorities/new",
    general: "/oauth/manage/:org/client-authorities/:id",
    settings: "/oauth/manage/:org/client-authorities/:id/settings",
    activity: "/oauth/manage/:org/client-authorities/:id/activity",
    delete: "/oauth/manage/:org/client-authorities/:id/delete",
  });
}

type AuthorityInput = { readonly name: string; readonly certificate: string; readonly enabled: boolean };

const pages = recordPages<ClientAuthority>(
  "clientAuthorities",
  "/client-authorities",
  (db, orgId, id) => findClientAuthority(db, { orgId, id }),
  ({ name }) => name,
);

const labelsOf = ({ console: { clientAuthorities: text, plainRecords } }: Messages) => ({
  ...{ name: plainRecords.name, certificate: text.certificate, enabled: plainRecords.enabled.label },
});

const authorityRecord: PlainRecord<
  ConsoleDeps,
  ClientAuthority,
  AuthorityInput,
  ClientAuthoritySettings,
  undefined
> = {
  ...{ pages, path: "/client-authorities", noun: "authority", icon: "shield", labels: labelsOf },
  texts: ({ console }) => console.clientAuthorities,
  nameOf: ({ name }) => name,
  facts: ({ subject }) => [html`<bdi>${subject}</bdi>`],
  choices: async () => undefined,
  empty: () => ({ name: "", certificate: "", enabled: true }),
  toInput: ({ name, certificate, enabled }) => ({ name, certificate, enabled }),
  readInput: ({ values }) => ({
    name: (values.get("name") ?? "").trim().slice(0, 200),
    // The browser's line ends are not those of PEM.
    certificate: (values.get("certificate") ?? "")
      .replaceAll("\r\n", "\n")
      .slice(0, MAX_CERTIFICATE_LENGTH + 1),
    enabled: values.get("enabled") === "on",
  }),
  toDisplay: ({ name, certificate, enabled }, messages) => ({
    ...{ name, certificate, enabled: yesOrNo(enabled, messages) },
  }),
  fields,
  validate: (input) => ({ content: input }),
  lock: (tx, { orgId }) => lockOrganisation(tx, orgId),
  create: (inside, acting, settings) => createClientAuthority(inside, { ...acting, settings }),
  change: (inside, acting, { id }, change) => changeClientAuthority(inside, { ...acting, id, change }),
  remove: (inside, acting, { id }) => deleteClientAuthority(inside, { ...acting, id }),
  faults: (error, { console }) => {
    if (!(error instanceof InvalidClientAuthority)) throw error;
    const field = error.code === "name" || error.code === "too-many" ? "name" : "certificate";
    return { [field]: console.clientAuthorities.faults[error.code] };
  },
  general: (_, view) => general(view),
};

function fields(form: FormView<AuthorityInput>, _: undefined, before: ClientAuthority | undefined): Content {
  const { clientAuthorities: text } = form.messages.console;
  const field = fieldsOf(form, labelsOf(form.messages));
  const isFirst = form.state.faults === undefined && before === undefined;
  return [
    textField({ ...(isFirst && { hasFocus: true }), ...field("name"), maxLength: 100, isRequired: true }),
    textArea({
      ...{ ...field("certificate"), hint: text.certificateHint, rows: 8, isCode: true },
      maxLength: MAX_CERTIFICATE_LENGTH,
    }),
    enabledField(field("enabled")),
  ];
}

function general({ record, messages }: RecordView<ClientAuthority>): Content {
  const { clientAuthorities: text, frame } = messages.console;
  return card({
    ...{ id: "authority-details", title: text.details, text: text.detailsText },
    body: [
      facts([
        { label: text.subject, content: html`<bdi>${record.subject}</bdi>` },
        { label: text.fingerprint, content: html`<code>${record.fingerprint}</code>` },
        { label: text.notAfter, content: relativeTime(record.notAfter, messages.format.day) },
      ]),
      codeBlock({ ...frame.secret, id: "authority-pem", title: text.certificate, lines: record.certificate }),
    ],
  });
}

const authorityList = plainList(authorityRecord, {
  load: ({ deps, organisation }) => listClientAuthorities(deps.database.query, organisation.id),
  words: ({ name, subject, fingerprint }) => [name, subject, fingerprint],
  note: ({ subject }) => html`<bdi>${subject}</bdi>`,
  columns: [
    {
      label: ({ console }) => console.clientAuthorities.notAfter,
      cell: ({ notAfter }, { messages }) => relativeTime(notAfter, messages.format.day),
    },
  ],
});
