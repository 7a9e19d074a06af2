/** GET account: the user's applications, the security of the account, and the other organisations where it is known. */
import type { FastifyInstance } from "fastify";
import { listWaitingRequests } from "../../../core/ciba-requests/ciba-requests.store.ts";
import { factorOwner } from "../../../core/second-factors/factor-status.ts";
import { findFactorSummary } from "../../../core/second-factors/second-factors.store.ts";
import { listUserSessions } from "../../../core/sessions/end-sessions.ts";
import { findPasswordChangedAt } from "../../../core/users/account.store.ts";
import { organisationsOfUser } from "../../../core/users/members/members.store.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { pageHandler, show } from "../../../page-kit/page.ts";
import { viewAccountPage } from "../account-form.ts";
import {
  type AccountDeps,
  type AccountVisit,
  accountFrame,
  accountPath,
  isHomeUser,
} from "../account-page.ts";
import { type HomeView, homePage, type SecurityStatus } from "./home.page.ts";
import { listUsableApplications, matchingApplications } from "./usable-applications.ts";

/** From more than these on, there is a search. */
const WITHOUT_SEARCH = 12;
const MAX_ORGANISATIONS = 20;

export function homeRoute(app: FastifyInstance, deps: AccountDeps): void {
  app.get(
    "/oauth/:org/account",
    pageHandler(deps, (_, visit) => viewAccountPage(deps, visit, { allowsGuests: true, show: showHome })),
  );
}

async function showHome(deps: AccountDeps, visit: AccountVisit): Promise<void> {
  const { organisation, user, messages } = visit;
  const db = deps.database.query;
  const frame = accountFrame(visit, "home");
  const asked = { orgId: organisation.id, userId: user.id, locale: messages.locale };
  const usable = await listUsableApplications(db, asked);
  const hasSearch = usable.length > WITHOUT_SEARCH;
  const search = hasSearch ? (parseQuery(visit.request).values.get("q") ?? "").slice(0, 100).trim() : "";
  const page = homePage({
    ...frame,
    name: user.firstname,
    applications: matchingApplications(usable, search),
    search: hasSearch ? { action: `/oauth/${organisation.id}/account`, value: search } : undefined,
    security: isHomeUser(visit) ? await securityStatus(deps, visit) : undefined,
    sessions: (await listUserSessions(deps, organisation, user.id)).length,
    requests: await waitingRequests(deps, visit),
    uriOf: (rest) => accountPath(organisation, rest),
    others: await otherOrganisations(deps, visit),
  });
  return show(visit, frame, page);
}

/** What applications ask the user for (CIBA). */
async function waitingRequests(
  { database: { query }, clock }: AccountDeps,
  { organisation, user }: AccountVisit,
): Promise<HomeView["requests"]> {
  const orgId = organisation.id;
  const waiting = await listWaitingRequests(query, { orgId, userId: user.id, now: clock() });
  return waiting.map(({ id, applicationName, createdAt }) => ({
    ...{ id, applicationName, createdAt },
    uri: accountPath(organisation, `requests/${id}`),
  }));
}

async function securityStatus(
  { database: { query } }: AccountDeps,
  { user, organisation }: AccountVisit,
): Promise<SecurityStatus> {
  return {
    passwordSince: (await findPasswordChangedAt(query, user)) ?? undefined,
    factors: await findFactorSummary(query, factorOwner(user)),
    isFactorRequired: organisation.settings.secondFactor === "required",
  };
}

/** Where the account is a member too: each has its own sign-in. */
async function otherOrganisations(
  { database, organisations }: AccountDeps,
  { organisation, user }: AccountVisit,
): Promise<{ name: string; uri: string }[]> {
  const ids = await organisationsOfUser(database.query, user.homeOrgId, user.id);
  const others = ids.filter((id) => id !== organisation.id).slice(0, MAX_ORGANISATIONS);
  const found = await Promise.all(others.map((id) => organisations.find(id)));
  return found.flatMap((one) => (one ? [{ name: one.name, uri: `/oauth/${one.id}/account` }] : []));
}
