/** The issuers that an organisation trusts, and the page of one. */
import type { FastifyInstance } from "fastify";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { listConnections } from "../../../core/connections/connections.store.ts";
import { issuerOf } from "../../../core/organisations/organisation.ts";
import type { Trust, TrustSettings } from "../../../core/trusts/trust.ts";
import { findTrust, listTrusts, lockTrust } from "../../../core/trusts/trusts.store.ts";
import { changeTrust, createTrust, deleteTrust } from "../../../core/trusts/trusts.ts";
import { requireValidTrust } from "../../../core/trusts/validation.ts";
import { html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { listRoute } from "../../../page-kit/list/list-route.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { recordPages } from "../../../page-kit/record-pages.ts";
import { applicationsToChoose } from "../plain-records/fields.ts";
import { plainList } from "../plain-records/plain-list.ts";
import type { PlainRecord } from "../plain-records/plain-record.ts";
import { plainRecordRoutes } from "../plain-records/plain-record-routes.ts";
import { type TrustChoices, trustFields, trustGeneral, trustLabels } from "./trust.page.ts";
import {
  displayTrust,
  presets,
  readTrustInput,
  type TrustInput,
  toTrustInput,
  trustFaults,
  validateTrust,
} from "./trust-input.ts";

export function trustsRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const record = trustRecord(deps);
  listRoute(app, deps, "/oauth/manage/:org/trusts", trustList(record));
  plainRecordRoutes(app, deps, record, {
    create: "/oauth/manage/:org/trusts/new",
    general: "/oauth/manage/:org/trusts/:id",
    settings: "/oauth/manage/:org/trusts/:id/settings",
    activity: "/oauth/manage/:org/trusts/:id/activity",
    delete: "/oauth/manage/:org/trusts/:id/delete",
  });
}

const nameOf = ({ subjectPattern, issuer }: Trust): string => subjectPattern ?? issuer;

const pages = recordPages<Trust>(
  "trusts",
  "/trusts",
  (db, orgId, id) => findTrust(db, { orgId, id }),
  nameOf,
);

type TrustRecord = PlainRecord<ConsoleDeps, Trust, TrustInput, Checked, TrustChoices>;

/** With what is said of it where the rules refuse it. */
type Checked = TrustSettings;

const trustRecord = ({ baseUrl }: Pick<ConsoleDeps, "baseUrl">): TrustRecord => ({
  ...{ pages, path: "/trusts", noun: "trust", icon: "consent", nameOf, labels: trustLabels },
  texts: ({ console }) => console.trusts,
  facts: ({ kind }, { console }) => [console.trusts.kindNames[kind]],
  choices: async ({ database }, orgId) => ({
    applications: await applicationsToChoose({ database }, orgId),
    connections: await listConnections(database.query, orgId),
  }),
  empty: ({ request }) => {
    const sort = parseQuery(request).values.get("sort") ?? "";
    return Object.hasOwn(presets, sort) ? presets[sort] : undefined;
  },
  sorts: ({ messages: { console } }) =>
    Object.keys(presets).map((name) => {
      const texts = console.trusts.presets as Readonly<Record<string, { title: string; text: string }>>;
      return { name, title: texts[name]?.title ?? name, text: texts[name]?.text ?? "", mark: markOf(name) };
    }),
  hidden: ({ kind }) => [{ name: "kind", value: kind }],
  toInput: toTrustInput,
  readInput: readTrustInput,
  toDisplay: displayTrust,
  fields: trustFields,
  validate: (input, messages, { orgId }) => {
    const validated = validateTrust(input, messages);
    return "faults" in validated
      ? validated
      : byTheRules(validated.content, issuerOf(baseUrl, orgId), messages);
  },
  lock: (tx, { orgId, id }) => lockTrust(tx, { orgId, id }),
  create: (inside, acting, settings) => createTrust(inside, { ...acting, settings }),
  change: (inside, acting, { id }, settings) =>
    changeTrust(inside, { ...acting, id, change: () => settings }),
  remove: (inside, acting, { id }) => deleteTrust(inside, { ...acting, id }),
  faults: (error, messages) => trustFaults(error, messages, { subjectPattern: null }),
  general: async ({ database }, view) => {
    const { orgId, clientId } = view.record;
    const client = clientId === null ? undefined : await findApplication(database.query, orgId, clientId);
    return trustGeneral(view, { issuer: issuerOf(baseUrl, orgId), client });
  },
});

/** What is wrong with the pattern is said in words of its own, which need the pattern. */
function byTheRules(content: TrustSettings, own: string, messages: Messages) {
  try {
    requireValidTrust({ ...content, audience: content.audience === own ? null : content.audience }, own);
    return { content };
  } catch (error) {
    return { faults: trustFaults(error, messages, content) };
  }
}

const marks = {
  github: "code",
  gitlab: "code",
  kubernetes: "wheel",
  spiffe: "shield",
  oidc: "connection",
  software_statement: "log",
} as const;
const markOf = (name: string) => (Object.hasOwn(marks, name) ? marks[name as keyof typeof marks] : "person");

const trustList = (record: TrustRecord) =>
  plainList(record, {
    load: ({ deps, organisation }) => listTrusts(deps.database.query, organisation.id),
    words: (trust) => [nameOf(trust), trust.issuer],
    note: ({ issuer }) => html`<code>${issuer}</code>`,
    columns: [
      {
        label: ({ console }) => console.trusts.kind,
        cell: ({ kind }, { messages: { console } }) => console.trusts.kindNames[kind],
      },
    ],
  });
