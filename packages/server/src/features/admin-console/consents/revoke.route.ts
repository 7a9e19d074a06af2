/** Revoking a consent, or deleting a pre-authorization: confirmed first, because it revokes tokens. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { findApplication } from "../../../core/applications/applications.store.ts";
import type { Consent } from "../../../core/consents/consent.ts";
import { findConsentRecord, findPreauthorization } from "../../../core/consents/consents.store.ts";
import { deletePreauthorization, revokeConsent } from "../../../core/consents/consents.ts";
import { findUser } from "../../../core/users/users.store.ts";
import { html } from "../../../html/html.ts";
import {
  alreadyApplied,
  applied,
  type Confirmation,
  confirmationRoute,
} from "../../../page-kit/confirmation.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";

export function revokeRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  confirmationRoute(app, deps, "/oauth/manage/:org/consents/:id/revoke", revocation);
  confirmationRoute(app, deps, "/oauth/manage/:org/preauthorizations/:id/delete", deletion);
}

interface Found {
  readonly record: Consent;
  readonly name: string;
  readonly email: string | undefined;
}

/** The record in the address, with the names of its application and its user. */
const loadWith =
  (find: typeof findConsentRecord): Confirmation<ConsoleDeps, Found>["load"] =>
  async ({ database: { query: db } }, { id: orgId }, { id = "" }) => {
    const record = isUuid(id) ? await find(db, { orgId, id }) : undefined;
    if (!record) return undefined;
    const application = await findApplication(db, orgId, record.applicationId);
    const user = record.userId === null ? undefined : await findUser(db, orgId, record.userId);
    return { record, name: application?.name ?? record.applicationId, email: user?.email };
  };

const revocation: Confirmation<ConsoleDeps, Found> = {
  current: "consents",
  load: loadWith(findConsentRecord),
  backUri: (organisation) => consolePath(organisation, "/consents"),
  isDone: (_, { record }) => record.revokedAt !== null,
  question: ({ console: { frame, consents: text } }, { record, name, email }, organisation) => ({
    heading: text.revokeTitle({ application: name }),
    text: html`<p>${record.kind === "user" ? text.revokeUser({ email: email ?? text.formerUser }) : text.revokeAllUsers}</p>
${scopeLine(text.scopesAre, record.scopes)}`,
    confirm: text.revoke,
    confirmId: "consent-revoke-confirm",
    breadcrumbs: [{ label: frame.pages.consents, uri: consolePath(organisation, "/consents") }],
  }),
  apply: async (deps, acting, { record: { id } }, { organisation }) =>
    (await revokeConsent(deps, { ...acting, id }))
      ? applied(consolePath(organisation, "/consents?done=revoked"))
      : alreadyApplied,
};

const deletion: Confirmation<ConsoleDeps, Found> = {
  current: "consents",
  load: loadWith(findPreauthorization),
  backUri: (organisation) => consolePath(organisation, "/preauthorizations"),
  question: ({ console: { consents: text } }, { record, name }, organisation) => ({
    heading: text.preauthorizations.removeTitle({ application: name }),
    text: html`<p>${text.preauthorizations.removeText}</p>
${scopeLine(text.scopesAre, record.scopes)}`,
    confirm: text.preauthorizations.remove,
    confirmId: "preauthorization-delete-confirm",
    breadcrumbs: [
      { label: text.tabs.preauthorizations, uri: consolePath(organisation, "/preauthorizations") },
    ],
  }),
  apply: async (deps, acting, { record: { id } }, { organisation }) =>
    (await deletePreauthorization(deps, { ...acting, id }))
      ? applied(consolePath(organisation, "/preauthorizations?done=removed"))
      : alreadyApplied,
};

const scopeLine = (label: string, scopes: readonly string[]) =>
  html`<p>${label} ${scopes.map((scope) => html`<code>${scope}</code> `)}</p>`;
