/** The organisations of whoever is signed in in this browser that have an application. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyRequest } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import { findCurrentSession } from "../../../core/sessions/sessions.ts";
import { organisationsAmong } from "../../../core/shared-applications/common-entry.store.ts";
import { organisationsOfUser } from "../../../core/users/members/members.store.ts";
import type { BrowserDeps } from "../authorize/browser.ts";

/** Cookies are the browser's to invent: each costs a look. */
const MAX_SESSIONS = 20;
const MAX_SHOWN = 50;

export async function membershipsOfBrowser(
  deps: BrowserDeps,
  request: FastifyRequest,
  application: Application,
): Promise<ReadonlyArray<{ readonly id: string; readonly name: string }>> {
  const memberOf = new Set<string>();
  for (const orgId of sessionsIn(request)) {
    const organisation = await deps.organisations.find(orgId);
    const token = deps.cookies.read(request, orgId);
    const proof = deps.proofCookies.read(request, orgId);
    const current =
      organisation && (await findCurrentSession(deps, organisation, token, { isBackground: true, proof }));
    if (!current) continue;
    const { id, homeOrgId } = current.user;
    for (const one of await organisationsOfUser(deps.database.query, homeOrgId, id)) memberOf.add(one);
  }
  const having = await organisationsAmong(deps.database.query, application, [...memberOf]);
  const organisations = await Promise.all(having.slice(0, MAX_SHOWN).map(deps.organisations.find));
  return organisations.flatMap((one) => (one ? [{ id: one.id, name: one.name }] : []));
}

function sessionsIn({ cookies }: FastifyRequest): string[] {
  const ids = Object.keys(cookies).map(
    (name) => /^(?:__Host-)?signet-([0-9a-f-]{36})$/.exec(name)?.[1] ?? "",
  );
  return ids.filter(isUuid).slice(0, MAX_SESSIONS);
}
