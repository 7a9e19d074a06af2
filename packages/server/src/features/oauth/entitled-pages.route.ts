/**
 * GET /oauth/{org}/userinfo/{roles|groups|permissions}: all that the token's subject has, page by page, for tokens in which there
 * was too much to tell (`<claim>_overage`; api-v1.md, "In tokens").
 */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyInstance } from "fastify";
import { noteCaller } from "../../core/audit/audited-request.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import type { EntitlementDirectory } from "../../core/roles/entitlements.ts";
import type { CustomScopeDirectory } from "../../core/scopes/custom-scopes.ts";
import type { EntitlementScope } from "../../core/scopes/scopes.ts";
import { entitledValuesOfToken } from "../../core/tokens/entitled-by-token.ts";
import { type Call, jsonAnswer } from "../../http/calls/call.ts";
import { callRoute } from "../../http/calls/call-route.ts";
import type { DirectCalls } from "../../http/calls/direct-calls.ts";
import { NotFound } from "../../http/errors.ts";
import { callInOrganisation } from "../../http/organisation-lookup.ts";
import { authenticateToken, type BearerDeps } from "./bearer-authentication.ts";
import { withDpopNonce } from "./sender-constraint.ts";

export interface EntitledPagesDeps extends BearerDeps {
  readonly organisations: OrganisationDirectory;
  readonly customScopes: CustomScopeDirectory;
  readonly entitlements: EntitlementDirectory;
}

export function entitledPagesRoute(app: FastifyInstance, direct: DirectCalls, deps: EntitledPagesDeps): void {
  const handler = (claim: EntitlementScope) =>
    callInOrganisation<Organisation>(
      deps.organisations.find,
      withDpopNonce(deps, async (organisation, call) =>
        jsonAnswer(await readPage(deps, organisation, { call, claim })),
      ),
    );
  callRoute(app, direct, { method: "GET", path: "/oauth/:org/userinfo/roles" }, handler("roles"));
  callRoute(app, direct, { method: "GET", path: "/oauth/:org/userinfo/groups" }, handler("groups"));
  callRoute(app, direct, { method: "GET", path: "/oauth/:org/userinfo/permissions" }, handler("permissions"));
}

async function readPage(
  deps: EntitledPagesDeps,
  organisation: Organisation,
  { call, claim }: { readonly call: Call; readonly claim: EntitlementScope },
): Promise<object> {
  const customScopes = await deps.customScopes.list(organisation.id);
  // Where the organisation has an older scope of the name, the name means that one.
  if (customScopes.some(({ name }) => name === claim)) throw new NotFound(claim);
  const { claims } = await authenticateToken(deps, organisation, call, claim);
  noteCaller(organisation.id, claims.client_id);
  const { limit, after } = readPlace(call, claim);
  const values = await entitledValuesOfToken(deps, claims, claim);
  const rest = after === undefined ? values : values.filter((value) => value > after);
  const items = rest.slice(0, limit);
  const last = rest.length > limit ? items.at(-1) : undefined;
  return { items, nextCursor: last === undefined ? null : writeCursor(claim, last) };
}

const [DEFAULT_LIMIT, MAX_LIMIT] = [50, 200];

/** @throws OAuthError invalid_request */
function readPlace(call: Call, claim: EntitlementScope) {
  const { values, repeated } = call.query();
  const unknown = [...values.keys()].find((name) => name !== "limit" && name !== "cursor");
  if (unknown !== undefined || repeated.size > 0)
    throw new OAuthError("invalid_request", "limit and cursor are the parameters, each once");
  const limit = values.get("limit") ?? String(DEFAULT_LIMIT);
  if (!/^[1-9][0-9]{0,2}$/.test(limit) || Number(limit) > MAX_LIMIT)
    throw new OAuthError("invalid_request", `limit is 1 to ${MAX_LIMIT}`);
  const cursor = values.get("cursor");
  return { limit: Number(limit), after: cursor === undefined ? undefined : readCursor(claim, cursor) };
}

const writeCursor = (claim: EntitlementScope, value: string): string =>
  Buffer.from(JSON.stringify([claim, value])).toString("base64url");

function readCursor(claim: EntitlementScope, cursor: string): string {
  try {
    const read: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (Array.isArray(read) && read[0] === claim && typeof read[1] === "string") return read[1];
  } catch {
    // As any other text that was never a cursor.
  }
  throw new OAuthError("invalid_request", "cursor is not of this list");
}
