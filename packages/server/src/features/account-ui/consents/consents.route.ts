/**
 * user/consents: the user's consents, as a page and as JSON. user/consents/{id}/revoke: revokes one, with every token that
 * is based on it. Revoking needs no recent authentication: it only reduces access. API clients send an access token of the
 * user with the scope `openid`, and see what the user consented to for their own client only.
 */

import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ClientSource } from "../../../core/applications/application.ts";
import { type ApplicationUse, unused, usesOfUser } from "../../../core/consents/application-uses.store.ts";
import { listUserConsents } from "../../../core/consents/consents.store.ts";
import { revokeConsent } from "../../../core/consents/consents.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { ProtectedResource } from "../../../core/protected-resources/protected-resource.ts";
import type { ProtectedResourceDirectory } from "../../../core/protected-resources/protected-resources.ts";
import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import type { CustomScopeDirectory } from "../../../core/scopes/custom-scopes.ts";
import { listUsedApplications } from "../../../core/tokens/tokens.store.ts";
import type { User } from "../../../core/users/user.ts";
import type { ErrorHandler } from "../../../http/error-handlers.ts";
import { NotFound } from "../../../http/errors.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { isProgram } from "../../../http/program.ts";
import type { Refusal } from "../../../page-kit/accept-form.ts";
import { ALREADY_APPLIED } from "../../../page-kit/console-frame.ts";
import { pageHandler, redirectTo, show, type Visit } from "../../../page-kit/page.ts";
import { type AccountRoute, submitAccountForm, viewAccountPage } from "../account-form.ts";
import { type AccountDeps, type AccountVisit, accountFrame } from "../account-page.ts";
import { confirmPage } from "../change.page.ts";
import { consentsPage } from "./consents.page.ts";

export interface ConsentsDeps extends AccountDeps {
  readonly customScopes: CustomScopeDirectory;
  readonly protectedResources: ProtectedResourceDirectory;
  /** @throws OAuthError with a bearer challenge */
  authenticateBearer(
    organisation: Organisation,
    request: FastifyRequest,
  ): Promise<{
    readonly user: User;
    readonly claims: { readonly client_id: string };
  }>;
  readonly errorHandlers: { readonly program: ErrorHandler; readonly page: ErrorHandler };
}

export function consentsRoutes(app: FastifyInstance, deps: ConsentsDeps): void {
  const errorHandler: ErrorHandler = (error, request, reply) =>
    deps.errorHandlers[isProgram(request) ? "program" : "page"](error, request, reply);
  const handler = (byApi: ConsentsHandler, byBrowser: ConsentsHandler) =>
    pageHandler(deps, (_, visit) => {
      visit.reply.header("vary", "Accept, Authorization");
      return (isProgram(visit.request) ? byApi : byBrowser)(deps, visit);
    });
  app.get("/oauth/:org/user/consents", { errorHandler }, handler(sendConsents, showConsents));
  app.post("/oauth/:org/user/consents/:id/revoke", { errorHandler }, handler(revokeByApi, revokeByForm));
}

type ConsentsHandler = (deps: ConsentsDeps, visit: Visit) => Promise<void>;

async function sendConsents(deps: ConsentsDeps, { organisation, request, reply }: Visit): Promise<void> {
  const { user, claims } = await deps.authenticateBearer(organisation, request);
  const owner = { orgId: organisation.id, userId: user.id, applicationId: claims.client_id };
  const list = await listUserConsents(deps.database.query, owner);
  const uses = await usesOfUser(deps.database.query, { ...owner, now: deps.clock() });
  const items = list.map(({ consent, applicationName, clientSource }) => {
    const { lastUsedAt, resources, actors } = uses.get(consent.applicationId) ?? unused;
    return {
      id: consent.id,
      clientId: consent.applicationId,
      clientName: applicationName,
      clientSource,
      scopes: consent.scopes,
      resources,
      actors: actors.map(({ id }) => id),
      grantedAt: new Date(consent.grantedAt).toISOString(),
      lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt).toISOString(),
    };
  });
  await reply
    .headers({ "cache-control": "no-store", "content-type": "application/json" })
    .send(JSON.stringify({ items }));
}

async function revokeByApi(deps: ConsentsDeps, visit: Visit): Promise<void> {
  const { user, claims } = await deps.authenticateBearer(visit.organisation, visit.request);
  if (!(await revokeOwnConsent(deps, visit, user, claims.client_id))) throw new NotFound("consent");
  await visit.reply.code(204).header("cache-control", "no-store").send();
}

/**
 * @param applicationId the only application whose consent may be revoked; undefined: any
 * @returns false if the user has no such consent
 */
function revokeOwnConsent(
  deps: ConsentsDeps,
  { organisation, request }: Visit,
  user: User,
  applicationId?: string,
): Promise<boolean> {
  const { id = "" } = request.params as { id?: string };
  return revokeConsent(deps, {
    orgId: organisation.id,
    id: id.toLowerCase(),
    userId: user.id,
    ...(applicationId === undefined ? {} : { applicationId }),
    actor: `user:${user.id}`,
    address: addressOf(request),
  });
}

/** The consent that a page is about: of its query, or of the form's address. */
const requestedConsent = ({ request }: Visit): string | undefined =>
  (request.params as { id?: string }).id ?? parseQuery(request).values.get("id");

const consentsRoute: AccountRoute<ConsentsDeps> = {
  allowsGuests: true,
  returnTo: (visit) => consentsPath(visit, requestedConsent(visit)),
  show: (deps, visit, rejected) => {
    const id = requestedConsent(visit);
    return id === undefined ? showList(deps, visit) : askToConfirm(deps, visit, id, rejected?.refusal);
  },
  submit: async (deps, visit) => {
    const isDone = await revokeOwnConsent(deps, visit, visit.user);
    await redirectTo(visit, `${consentsPath(visit)}?done=${isDone ? "revoked" : ALREADY_APPLIED}`);
  },
};

const showConsents: ConsentsHandler = (deps, visit) => viewAccountPage(deps, visit, consentsRoute);
const revokeByForm: ConsentsHandler = (deps, visit) => submitAccountForm(deps, visit, consentsRoute);

const consentsPath = ({ organisation }: Pick<Visit, "organisation">, id?: string): string =>
  `/oauth/${organisation.id}/user/consents${id === undefined ? "" : `?id=${encodeURIComponent(id)}`}`;

async function showList(deps: ConsentsDeps, visit: AccountVisit): Promise<void> {
  const { organisation, user } = visit;
  const frame = accountFrame(visit, "consents");
  const owner = { orgId: organisation.id, userId: user.id };
  const customScopes = await deps.customScopes.list(organisation.id);
  const resources = await deps.protectedResources.list(organisation.id);
  const list = await listUserConsents(deps.database.query, owner);
  const uses = await usesOfUser(deps.database.query, { ...owner, now: deps.clock() });
  const used = await listUsedApplications(deps.database.query, owner);
  const allowed = new Set(list.map(({ consent }) => consent.applicationId));
  const useOf = (applicationId: string) => shownUse(uses.get(applicationId) ?? unused, resources);
  const consents = list.map(({ consent, applicationName, clientSource }) => ({
    ...{ applicationName, grantedAt: consent.grantedAt, ...useOf(consent.applicationId) },
    scopes: consent.scopes.map((name) => scopeText(name, customScopes)),
    revokeUri: consentsPath(visit, consent.id),
    agent: agentOf(consent.applicationId, clientSource, `${consentsPath(visit)}/${consent.id}/revoke`),
  }));
  const page = consentsPage({
    ...frame,
    isDone: parseQuery(visit.request).values.get("done") === "revoked",
    csrf: deps.browserSession.formBinding(visit).csrf,
    others: used
      .filter(({ applicationId }) => !allowed.has(applicationId))
      .map(({ applicationId, applicationName }) => ({ applicationName, ...useOf(applicationId) })),
    consents: [...consents.filter(({ agent }) => agent), ...consents.filter(({ agent }) => !agent)],
  });
  return show(visit, frame, page);
}

/** Resources by their names, where the organisation has them. */
function shownUse(use: ApplicationUse, resources: readonly ProtectedResource[]) {
  const nameOf = (identifier: string) =>
    resources.find((resource) => resource.identifier === identifier)?.name ?? identifier;
  return {
    lastUsedAt: use.lastUsedAt,
    resources: use.resources.map(nameOf),
    actors: use.actors.map(({ name }) => name),
  };
}

/** A client whose ID is its document's address is known by the host. */
const agentOf = (clientId: string, source: ClientSource, action: string) =>
  source === "registered" ? undefined : { action, host: URL.parse(clientId)?.host };

function scopeText(name: string, customScopes: readonly CustomScope[]) {
  const scope = customScopes.find((one) => one.name === name);
  return { name, displayName: scope?.displayName, sensitive: scope?.sensitive };
}

async function askToConfirm(
  deps: ConsentsDeps,
  visit: AccountVisit,
  id: string,
  again?: Refusal,
): Promise<void> {
  const { organisation, user } = visit;
  const list = await listUserConsents(deps.database.query, { orgId: organisation.id, userId: user.id });
  const granted = list.find(({ consent }) => consent.id === id.toLowerCase());
  if (!granted) throw new NotFound("consent");
  const frame = accountFrame(visit, "consents");
  const { consents: text } = frame.messages;
  const page = confirmPage({
    ...frame,
    csrf: deps.browserSession.formBinding(visit).csrf,
    action: `${consentsPath(visit)}/${granted.consent.id}/revoke`,
    backUri: consentsPath(visit),
    failure: again?.failure,
    heading: text.revokeHeading({ application: granted.applicationName }),
    text: text.revokeText,
    confirm: text.revoke,
    confirmId: "consent-revoke",
  });
  return show(visit, frame, page, again?.status);
}
