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
  type Confirmation,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";
import type { ConsentsTab } from "./consents.page.ts";
import { tabCrumb } from "./grant.page.ts";

export function revokeRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  confirmationRoute(app, deps, "/oauth/manage/:org/consents/:id/revoke", revocation);
  confirmationRoute(app, deps, "/oauth/manage/:org/preauthorizations/:id/delete", deletion);
}

export interface FoundConsent {
  readonly record: Consent;
  readonly name: string;
  readonly email: string | undefined;
}

/** The record in the address, with the names of its application and its user. */
const loadWith =
  (find: typeof findConsentRecord): Confirmation<ConsoleDeps, FoundConsent>["load"] =>
  async ({ database: { query: db } }, { id: orgId }, { id = "" }) => {
    const record = isUuid(id) ? await find(db, { orgId, id }) : undefined;
    if (!record) return undefined;
    const application = await findApplication(db, orgId, record.applicationId);
    const user = record.userId === null ? undefined : await findUser(db, orgId, record.userId);
    return { record, name: application?.name ?? record.applicationId, email: user?.email };
  };

export const loadConsent = loadWith(findConsentRecord);
export const loadPreauthorization = loadWith(findPreauthorization);

const onList = (
  tab: ConsentsTab,
): Pick<Confirmation<never, FoundConsent>, "current" | "backUri" | "breadcrumbs"> => ({
  current: "consents",
  backUri: (organisation) => consolePath(organisation, `/${tab}`),
  breadcrumbs: (frame) => tabCrumb({ ...frame, tab }),
});

export const revocation: Confirmation<ConsoleDeps, FoundConsent> = {
  ...onList("consents"),
  load: loadConsent,
  isDone: (_, { record }) => record.revokedAt !== null,
  question: ({ console: { consents: text } }, { record, name, email }) => ({
    heading: text.revokeTitle({ application: name }),
    text: html`<p>${record.kind === "user" ? text.revokeUser({ email: email ?? text.formerUser }) : text.revokeAllUsers}</p>
${scopeLine(text.scopesAre, record.scopes)}`,
    confirm: text.revoke,
    confirmId: "consent-revoke-confirm",
  }),
  apply: async (deps, acting, { record: { id } }) =>
    (await revokeConsent(deps, { ...acting, id })) ? done("revoked") : alreadyApplied,
};

export const deletion: Confirmation<ConsoleDeps, FoundConsent> = {
  ...onList("preauthorizations"),
  load: loadPreauthorization,
  question: ({ console: { consents: text } }, { record, name }) => ({
    heading: text.preauthorizations.removeTitle({ application: name }),
    text: html`<p>${text.preauthorizations.removeText}</p>
${scopeLine(text.scopesAre, record.scopes)}`,
    confirm: text.preauthorizations.remove,
    confirmId: "preauthorization-delete-confirm",
  }),
  apply: async (deps, acting, { record: { id } }) =>
    (await deletePreauthorization(deps, { ...acting, id })) ? done("removed") : alreadyApplied,
};

const scopeLine = (label: string, scopes: readonly string[]) =>
  html`<p>${label} ${scopes.map((scope) => html`<code>${scope}</code> `)}</p>`;
