/** POST connections/{id}/backchannel-logout (OpenID Connect Back-Channel Logout 1.0 §2.5): the provider says who has signed out there. */
import { requireSingle } from "@signet/protocol/form";
import { isUuid } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { findConnection } from "../../../core/connections/connections.store.ts";
import { ConnectionSignInFailure } from "../../../core/connections/sign-in/failure.ts";
import { isSignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";
import { endUpstreamSessions } from "../../../core/connections/sign-in/upstream-sign-ins.ts";
import { consumeOnce } from "../../../core/consumed-values.store.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { NotFound } from "../../../http/errors.ts";
import { parsedForm } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import type { ConnectionDeps, KnownConnection } from "./connection-visit.ts";
import { InvalidLogoutToken, type UpstreamLogout } from "./upstream.ts";

export type BackchannelLogoutDeps = Pick<
  ConnectionDeps,
  "database" | "clock" | "organisations" | "upstreams"
>;

export function upstreamBackchannelLogoutRoute(app: FastifyInstance, deps: BackchannelLogoutDeps): void {
  app.post(
    "/oauth/:org/connections/:id/backchannel-logout",
    inOrganisation<Organisation>(deps.organisations.find, async ({ organisation, request, reply }) => {
      reply.header("cache-control", "no-store");
      try {
        await receiveLogout(deps, organisation, request);
      } catch (error) {
        // A program reads it, not a person.
        if (error instanceof NotFound) return reply.code(404).send();
        if (!(error instanceof OAuthError)) throw error;
        return reply.code(400).send({ error: error.code, error_description: error.message });
      }
      return reply.code(200).send();
    }),
  );
}

async function receiveLogout(
  deps: BackchannelLogoutDeps,
  organisation: Organisation,
  request: FastifyRequest,
): Promise<void> {
  const { id = "" } = request.params as { id?: string };
  const known = await anyConnection(deps, organisation.id, id);
  const form = parsedForm(request);
  requireSingle(form);
  const token = form.values.get("logout_token");
  if (token === undefined) throw refused("logout_token is missing");
  await endSignIns(deps, known, await readLogout(known, token), addressOf(request));
}

/** Also one that is disabled: whoever came by it may still be signed in. @throws NotFound */
async function anyConnection(
  { database, upstreams }: BackchannelLogoutDeps,
  orgId: string,
  id: string,
): Promise<KnownConnection> {
  const found = isUuid(id)
    ? await findConnection(database.query, { orgId, id: id.toLowerCase() })
    : undefined;
  if (!found || !isSignInConnection(found)) throw new NotFound("connection");
  const upstream = upstreams[found.kind];
  if (!upstream?.readLogout || !found.settings.upstreamLogout) throw new NotFound("connection");
  return { connection: found, upstream };
}

/** §2.8: 400, whatever is wrong with it. */
const refused = (text: string, cause?: unknown) => new OAuthError("invalid_request", text, { cause });

async function readLogout({ connection, upstream }: KnownConnection, token: string): Promise<UpstreamLogout> {
  try {
    const logout = await upstream.readLogout?.(connection, token);
    if (logout) return logout;
  } catch (error) {
    if (error instanceof InvalidLogoutToken) throw refused(`logout_token: ${error.message}`, error);
    if (error instanceof ConnectionSignInFailure)
      throw refused("logout_token: its signature could not be checked", error);
    throw error;
  }
  throw new NotFound("connection");
}

async function endSignIns(
  { database, clock }: BackchannelLogoutDeps,
  { connection: { orgId, id: connectionId } }: KnownConnection,
  { jti, usedUntil, ...who }: UpstreamLogout,
  address: string,
): Promise<void> {
  const act = { orgId, actor: `connection:${connectionId}`, address };
  await database.transaction(async (tx) => {
    const use = { orgId, kind: "upstream-logout", value: `${connectionId}|${jti}`, expiresAt: usedUntil };
    if (!(await consumeOnce(tx, use))) throw refused("logout_token: it was used before");
    const end = { act, reason: "signed_out_upstream" as const, now: clock() };
    await endUpstreamSessions(tx, { orgId, connectionId, ...who }, end);
  });
}
