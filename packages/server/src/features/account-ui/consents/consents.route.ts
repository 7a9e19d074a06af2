/**
 * user/consents: what the user has allowed applications, as a page and as JSON. user/consents/{id}/revoke: one of it ends,
 * and with it every token that rests on it. Taking back asks for no fresh sign-in: it only makes less possible. A program
 * comes with an access token of the user (scope `openid`), from whichever application of the organisation: such a token
 * speaks for the user, and taking back gives nobody anything.
 */

import type { FastifyInstance, FastifyRequest } from "fastify";
import { listUserConsents } from "../../../core/consents/consents.store.ts";
import { revokeConsent } from "../../../core/consents/consents.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import type { CustomScopeDirectory } from "../../../core/scopes/custom-scopes.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { listUsedApplications } from "../../../core/tokens/tokens.store.ts";
import type { User } from "../../../core/users/user.ts";
import type { ErrorHandler } from "../../../http/error-handlers.ts";
import { NotFound } from "../../../http/errors.ts";
import { queryOf } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import type { Rejection } from "../../../page-kit/accept-form.ts";
import { ALREADY_APPLIED } from "../../../page-kit/console-frame.ts";
import { goTo, pageHandler, show, type Visit } from "../../../page-kit/page.ts";
import { acceptAccountForm, askForIdentity } from "../account-form.ts";
import { type AccountDeps, accountFrame, requireSignedIn } from "../account-page.ts";
import { confirmPage } from "../change.page.ts";
import { notTakenTexts } from "../change.ts";
import { consentsPage } from "./consents.page.ts";

export interface ConsentsDeps extends AccountDeps {
  readonly customScopes: CustomScopeDirectory;
  /** @throws OAuthError with a bearer challenge */
  bearerUser(organisation: Organisation, request: FastifyRequest): Promise<{ readonly user: User }>;
  /** How programs and browsers are told of errors. */
  readonly errorHandlers: { readonly program: ErrorHandler; readonly page: ErrorHandler };
}

export function consentsRoutes(app: FastifyInstance, deps: ConsentsDeps): void {
  const errorHandler: ErrorHandler = (error, request, reply) =>
    deps.errorHandlers[isProgram(request) ? "program" : "page"](error, request, reply);
  const byAudience = (program: (visit: Visit) => Promise<void>, page: (visit: Visit) => Promise<void>) =>
    pageHandler(deps, async (_, visit) => {
      visit.reply.header("vary", "Accept, Authorization");
      await (isProgram(visit.request) ? program(visit) : page(visit));
    });
  app.get(
    "/oauth/:org/user/consents",
    { errorHandler },
    byAudience(
      (visit) => answerList(deps, visit),
      (visit) => showPage(deps, visit),
    ),
  );
  app.post(
    "/oauth/:org/user/consents/:id/revoke",
    { errorHandler },
    byAudience(
      (visit) => revokeForProgram(deps, visit),
      (visit) => revokeOnPage(deps, visit),
    ),
  );
}

/** Who sends a token, or wants JSON and no page, is no browser that shows pages: the session's cookie means nothing then. */
function isProgram({ headers }: FastifyRequest): boolean {
  const accepted = headers.accept ?? "";
  return (
    headers.authorization !== undefined ||
    (accepted.includes("application/json") && !accepted.includes("text/html"))
  );
}

async function answerList(deps: ConsentsDeps, { organisation, request, reply }: Visit): Promise<void> {
  const { user } = await deps.bearerUser(organisation, request);
  const list = await listUserConsents(deps.database.query, { orgId: organisation.id, userId: user.id });
  const items = list.map(({ consent, applicationName }) => ({
    id: consent.id,
    clientId: consent.applicationId,
    clientName: applicationName,
    scopes: consent.scopes,
    grantedAt: new Date(consent.grantedAt).toISOString(),
  }));
  await reply
    .headers({ "cache-control": "no-store", "content-type": "application/json" })
    .send(JSON.stringify({ items }));
}

async function revokeForProgram(deps: ConsentsDeps, visit: Visit): Promise<void> {
  const { user } = await deps.bearerUser(visit.organisation, visit.request);
  if (!(await takeBack(deps, visit, user))) throw new NotFound("consent");
  await visit.reply.code(204).header("cache-control", "no-store").send();
}

/** Only the user's own; anything else is as if it were not there. */
function takeBack(deps: ConsentsDeps, { organisation, request }: Visit, user: User): Promise<boolean> {
  const { id = "" } = request.params as { id?: string };
  return revokeConsent(deps, {
    orgId: organisation.id,
    id: id.toLowerCase(),
    userId: user.id,
    actor: `user:${user.id}`,
    address: addressOf(request),
  });
}

async function showPage(deps: ConsentsDeps, visit: Visit): Promise<void> {
  const id = queryOf(visit.request).values.get("id");
  const signedIn = await requireSignedIn(deps, visit, consentsPath(visit, id));
  if (id === undefined) await showList(deps, visit, signedIn);
  else await ask(deps, visit, signedIn, id);
}

async function revokeOnPage(deps: ConsentsDeps, visit: Visit): Promise<void> {
  const { id = "" } = visit.request.params as { id?: string };
  const rules = { byGuests: true, needsNoProof: true };
  const form = await acceptAccountForm(deps, visit, consentsPath(visit, id), rules);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  if (form.outcome === "rejected") return ask(deps, visit, signedIn, id, form.refusal.failure?.kind);
  const isDone = await takeBack(deps, visit, signedIn.user);
  await goTo(visit, `${consentsPath(visit)}?done=${isDone ? "revoked" : ALREADY_APPLIED}`);
}

const consentsPath = ({ organisation }: Pick<Visit, "organisation">, id?: string): string =>
  `/oauth/${organisation.id}/user/consents${id === undefined ? "" : `?id=${encodeURIComponent(id)}`}`;

async function showList(deps: ConsentsDeps, visit: Visit, { user }: SignedIn): Promise<void> {
  const { organisation } = visit;
  const frame = accountFrame(visit, user, "consents");
  const customScopes = await deps.customScopes.list(organisation.id);
  const list = await listUserConsents(deps.database.query, { orgId: organisation.id, userId: user.id });
  const allowed = new Set(list.map(({ consent }) => consent.applicationId));
  const used = await listUsedApplications(deps.database.query, { orgId: organisation.id, userId: user.id });
  const page = consentsPage({
    ...frame,
    isDone: queryOf(visit.request).values.get("done") === "revoked",
    others: used.filter(({ applicationId }) => !allowed.has(applicationId)),
    consents: list.map(({ consent, applicationName }) => ({
      applicationName,
      grantedAt: consent.grantedAt,
      scopes: consent.scopes.map((name) => scopeText(name, customScopes)),
      revokeUri: consentsPath(visit, consent.id),
    })),
  });
  return show(visit, frame, page);
}

function scopeText(name: string, customScopes: readonly CustomScope[]) {
  const scope = customScopes.find((one) => one.name === name);
  return { name, displayName: scope?.displayName, sensitive: scope?.sensitive };
}

async function ask(
  deps: ConsentsDeps,
  visit: Visit,
  { user }: SignedIn,
  id: string,
  failure?: Rejection,
): Promise<void> {
  const { organisation } = visit;
  const list = await listUserConsents(deps.database.query, { orgId: organisation.id, userId: user.id });
  const found = list.find(({ consent }) => consent.id === id.toLowerCase());
  if (!found) throw new NotFound("consent");
  const frame = accountFrame(visit, user, "consents");
  const { consents: text } = frame.messages;
  const page = confirmPage({
    ...frame,
    csrf: deps.browserSession.formBinding(visit).csrf,
    action: `${consentsPath(visit)}/${found.consent.id}/revoke`,
    backUri: consentsPath(visit),
    failure: failure && notTakenTexts(frame)[failure],
    heading: text.revokeHeading({ application: found.applicationName }),
    text: text.revokeText,
    confirm: text.revoke,
    confirmId: "consent-revoke",
  });
  return show(visit, frame, page, failure ? 403 : 200);
}
