/** Who calls SCIM: a connection, by a token of its own. Everything else is one and the same 401. */
import { isUuid } from "@signet/protocol/hash";
import { ScimFault } from "@signet/protocol/scim/attribute";
import type { FastifyRequest } from "fastify";
import type { Connection } from "../../core/connections/connection.ts";
import { findConnection } from "../../core/connections/connections.store.ts";
import { isTokenOf } from "../../core/connections/connections.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import { countAttempt, networkPrefix } from "../../core/rate-limits/rate-limits.ts";
import { addressOf } from "../../http/listeners/client-address.ts";
import type { ScimCaller, ScimDeps } from "./scim-call.ts";

export interface ScimAuthenticationDeps extends ScimDeps {
  readonly organisations: Pick<OrganisationDirectory, "find">;
}

const BEARER = /^Bearer (sgn_st_[A-Za-z0-9_-]{43})$/i;

/** @throws ScimFault 401, RateLimited after too many wrong tokens from one network */
export async function authenticate(
  deps: ScimAuthenticationDeps,
  request: FastifyRequest,
): Promise<ScimCaller> {
  const { org = "", connection: id = "" } = request.params as { org?: string; connection?: string };
  const token = BEARER.exec(request.headers.authorization ?? "")?.[1];
  const connection = await connectionOf(deps, org.toLowerCase(), id.toLowerCase(), token);
  const address = addressOf(request);
  if (connection) {
    const root = `${deps.baseUrl}/scim/v2/${connection.orgId}/${connection.id}`;
    return { connection, address, root };
  }
  // Without a token nothing was guessed; and in organisations that there are not, anybody would leave rows.
  const isThere = isUuid(org) && (await deps.organisations.find(org.toLowerCase())) !== undefined;
  if (token !== undefined && isThere) await countFailure(deps, org.toLowerCase(), address);
  throw new ScimFault(401, undefined, "The token is not valid for this connection.");
}

async function connectionOf(
  deps: ScimAuthenticationDeps,
  orgId: string,
  id: string,
  token: string | undefined,
): Promise<Connection | undefined> {
  if (token === undefined || !isUuid(orgId) || !isUuid(id)) return undefined;
  const organisation = await deps.organisations.find(orgId);
  const connection = organisation && (await findConnection(deps.database.query, { orgId, id }));
  if (!connection?.enabled) return undefined;
  return (await isTokenOf(deps, { orgId, id }, token)) ? connection : undefined;
}

async function countFailure(deps: ScimDeps, orgId: string, address: string): Promise<void> {
  const limit = deps.rateLimits["connection-token-address"];
  await countAttempt(deps, orgId, [{ limit, subject: networkPrefix(address) }]);
}
