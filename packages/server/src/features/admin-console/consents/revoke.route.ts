/** Taking back a consent, or deleting a pre-authorization: asked once, because tokens end with it. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { findConsentRecord, findPreauthorization } from "../../../core/consents/consents.store.ts";
import { deletePreauthorization, revokeConsent } from "../../../core/consents/consents.ts";
import { findUser } from "../../../core/users/users.store.ts";
import { html } from "../../../html/html.ts";
import { confirmedActRoute, WasSoAlready } from "../../../page-kit/confirmed-act.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/visit.ts";

export function revokeRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  revokeConsentRoute(app, deps);
  deletePreauthorizationRoute(app, deps);
}

function revokeConsentRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  const db = deps.database.query;
  confirmedActRoute(app, deps, {
    path: "/consents/:id/revoke",
    current: "consents",
    find: async ({ id: orgId }, { id = "" }) => {
      const consent = isUuid(id) ? await findConsentRecord(db, { orgId, id }) : undefined;
      if (!consent) return undefined;
      const application = await findApplication(db, orgId, consent.applicationId);
      const user = consent.userId === null ? undefined : await findUser(db, orgId, consent.userId);
      return { consent, name: application?.name ?? consent.applicationId, email: user?.email };
    },
    overFor: ({ consent }) => (consent.revokedAt === null ? undefined : "/consents"),
    question: ({ console: { frame, consents: text } }, { consent, name, email }, organisation) => ({
      heading: text.revokeTitle({ application: name }),
      text: html`<p>${consent.kind === "user" ? text.revokeUser({ email: email ?? text.formerUser }) : text.revokeEverybody}</p>
${scopeLine(text.scopesAre, consent.scopes)}`,
      confirm: text.revoke,
      confirmId: "consent-revoke-confirm",
      back: "/consents",
      breadcrumbs: [{ label: frame.pages.consents, uri: consolePath(organisation, "/consents") }],
    }),
    act: async (acting, { consent: { id } }) => {
      if (!(await revokeConsent(deps, { ...acting, id }))) throw new WasSoAlready("/consents");
      return "/consents?done=revoked";
    },
  });
}

function deletePreauthorizationRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  const db = deps.database.query;
  confirmedActRoute(app, deps, {
    path: "/preauthorizations/:id/delete",
    current: "consents",
    find: async ({ id: orgId }, { id = "" }) => {
      const record = isUuid(id) ? await findPreauthorization(db, { orgId, id }) : undefined;
      if (!record) return undefined;
      const application = await findApplication(db, orgId, record.applicationId);
      return { record, name: application?.name ?? record.applicationId };
    },
    question: ({ console: { consents: text } }, { record, name }, organisation) => ({
      heading: text.preauthorizations.removeTitle({ application: name }),
      text: html`<p>${text.preauthorizations.removeText}</p>
${scopeLine(text.scopesAre, record.scopes)}`,
      confirm: text.preauthorizations.remove,
      confirmId: "preauthorization-delete-confirm",
      back: "/preauthorizations",
      breadcrumbs: [
        { label: text.tabs.preauthorizations, uri: consolePath(organisation, "/preauthorizations") },
      ],
    }),
    act: async (acting, { record: { id } }) => {
      if (!(await deletePreauthorization(deps, { ...acting, id })))
        throw new WasSoAlready("/preauthorizations");
      return "/preauthorizations?done=removed";
    },
  });
}

const scopeLine = (label: string, scopes: readonly string[]) =>
  html`<p>${label} ${scopes.map((scope) => html`<code>${scope}</code> `)}</p>`;
