/** Revoking a consent, or deleting a pre-authorization: confirmed first, because it revokes tokens. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { findConsentRecord, findPreauthorization } from "../../../core/consents/consents.store.ts";
import { deletePreauthorization, revokeConsent } from "../../../core/consents/consents.ts";
import { findUser } from "../../../core/users/users.store.ts";
import { html } from "../../../html/html.ts";
import { alreadyApplied, applied, confirmationRoute } from "../../../page-kit/confirmation.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";

export function revokeRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  revokeConsentRoute(app, deps);
  deletePreauthorizationRoute(app, deps);
}

function revokeConsentRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  const db = deps.database.query;
  confirmationRoute(app, deps, "/oauth/manage/:org/consents/:id/revoke", {
    current: "consents",
    load: async (_, { id: orgId }, { id = "" }) => {
      const consent = isUuid(id) ? await findConsentRecord(db, { orgId, id }) : undefined;
      if (!consent) return undefined;
      const application = await findApplication(db, orgId, consent.applicationId);
      const user = consent.userId === null ? undefined : await findUser(db, orgId, consent.userId);
      return { consent, name: application?.name ?? consent.applicationId, email: user?.email };
    },
    backUri: (organisation) => consolePath(organisation, "/consents"),
    isDone: (_, { consent }) => consent.revokedAt !== null,
    question: ({ console: { frame, consents: text } }, { consent, name, email }, organisation) => ({
      heading: text.revokeTitle({ application: name }),
      text: html`<p>${consent.kind === "user" ? text.revokeUser({ email: email ?? text.formerUser }) : text.revokeAllUsers}</p>
${scopeLine(text.scopesAre, consent.scopes)}`,
      confirm: text.revoke,
      confirmId: "consent-revoke-confirm",
      breadcrumbs: [{ label: frame.pages.consents, uri: consolePath(organisation, "/consents") }],
    }),
    apply: async (_, acting, { consent: { id } }, { organisation }) =>
      (await revokeConsent(deps, { ...acting, id }))
        ? applied(consolePath(organisation, "/consents?done=revoked"))
        : alreadyApplied,
  });
}

function deletePreauthorizationRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  const db = deps.database.query;
  confirmationRoute(app, deps, "/oauth/manage/:org/preauthorizations/:id/delete", {
    current: "consents",
    load: async (_, { id: orgId }, { id = "" }) => {
      const record = isUuid(id) ? await findPreauthorization(db, { orgId, id }) : undefined;
      if (!record) return undefined;
      const application = await findApplication(db, orgId, record.applicationId);
      return { record, name: application?.name ?? record.applicationId };
    },
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
    apply: async (_, acting, { record: { id } }, { organisation }) =>
      (await deletePreauthorization(deps, { ...acting, id }))
        ? applied(consolePath(organisation, "/preauthorizations?done=removed"))
        : alreadyApplied,
  });
}

const scopeLine = (label: string, scopes: readonly string[]) =>
  html`<p>${label} ${scopes.map((scope) => html`<code>${scope}</code> `)}</p>`;
