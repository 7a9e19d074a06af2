/** Who reads a ledger: the organisation's choice `public`, `members` or `off`. */
import { bearerChallenge, parseBearer, parseDpopToken } from "@signet/protocol/oauth/authorization-header";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyReply, FastifyRequest } from "fastify";
import { noteCaller } from "../../core/audit/audited-request.ts";
import type { CoreDeps } from "../../core/core-deps.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import type { AccessTokens } from "../../core/tokens/access-tokens.ts";
import type { AccessTokenClaims } from "../../core/tokens/claims.ts";
import { ApiError } from "../../http/api/api-error.ts";
import { CodedError } from "../../http/coded-error.ts";
import { NotFound } from "../../http/errors.ts";
import { inOrganisation, type OrganisationRoute } from "../../http/organisation-lookup.ts";

export interface LedgerDeps extends CoreDeps {
  readonly baseUrl: string;
  readonly organisations: OrganisationDirectory;
  readonly accessTokens: AccessTokens;
  /** By the API key of an active agent of the organisation, which sees the ledger that it signs by. @throws CodedError 401, 429 */
  authenticateAgent(organisation: Organisation, request: FastifyRequest): Promise<unknown>;
  /**
   * The certificate (RFC 8705 §3) or key (RFC 9449 §7) that the token is bound to; the proof is used up, and the answer has a nonce.
   * @throws ApiError 401 for a token of a key; OAuthError for one of a certificate
   */
  proveBinding(
    organisation: Organisation,
    exchange: { readonly request: FastifyRequest; readonly reply: FastifyReply },
    presented: { readonly token: string; readonly claims: AccessTokenClaims; readonly isDpop: boolean },
  ): Promise<void>;
}

export interface LedgerVisit {
  readonly orgId: string;
  readonly isPublic: boolean;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** A ledger that is off looks like one that isn't there. */
export const ledgerRoute = (
  deps: LedgerDeps,
  handler: (visit: LedgerVisit) => Promise<unknown>,
): OrganisationRoute =>
  inOrganisation<Organisation>(deps.organisations.find, async ({ organisation, request, reply }) => {
    const { id: orgId, settings } = organisation;
    if (settings.ledger === "off") throw new NotFound("ledger");
    const isPublic = settings.ledger === "public";
    if (isPublic) reply.header("access-control-allow-origin", "*");
    else await requireMember(deps, organisation, { request, reply });
    return handler({ orgId, isPublic, request, reply });
  });

/** @param seconds public logs are kept by caches on the way too */
export const cacheControl = ({ isPublic }: LedgerVisit, rest: string): string =>
  `${isPublic ? "public" : "private"}, ${rest}`;

const AGENT_KEY = /^Bearer sgn_ak_/i;

/** Any access token of the organisation that is still good, with whatever scopes, or the API key of one of its agents. */
async function requireMember(
  deps: LedgerDeps,
  organisation: Organisation,
  exchange: Pick<LedgerVisit, "request" | "reply">,
): Promise<void> {
  const { authorization } = exchange.request.headers;
  if (AGENT_KEY.test(authorization ?? "")) return requireAgent(deps, organisation, exchange);
  const ofKey = parseDpopToken(authorization);
  const token = ofKey ?? parseBearer(authorization);
  if (token === undefined) throw unauthenticated(organisation, "no access token");
  const claims = await deps.accessTokens.read(organisation, token);
  if (!claims || !(await deps.accessTokens.activeScopes(organisation, claims)))
    throw unauthenticated(organisation, "an expired, revoked or foreign token", "invalid_token");
  const presented = { token, claims, isDpop: ofKey !== undefined };
  await deps.proveBinding(organisation, exchange, presented).catch((error: unknown) => {
    if (!(error instanceof OAuthError)) throw error;
    throw unauthenticated(organisation, error.description, "invalid_token");
  });
  noteCaller(organisation.id, claims.client_id);
}

async function requireAgent(
  deps: LedgerDeps,
  organisation: Organisation,
  { request }: Pick<LedgerVisit, "request">,
): Promise<void> {
  await deps.authenticateAgent(organisation, request).catch((error: unknown) => {
    if (!(error instanceof CodedError)) throw error;
    const { "retry-after": seconds, ...headers } = error.headers;
    if (error.status === 429)
      throw new ApiError(429, "rate-limited", "Too many attempts", {
        retryAfterSeconds: Number(seconds),
        headers,
      });
    throw unauthenticated(
      organisation,
      "not the key of an active agent of this organisation",
      "invalid_token",
    );
  });
}

const unauthenticated = ({ id }: Organisation, cause: string, code?: "invalid_token") =>
  new ApiError(401, "not-authenticated", "The request is not authenticated", {
    cause,
    detail: "This ledger is for members of the organisation: send an access token of theirs.",
    headers: {
      "www-authenticate":
        code === undefined
          ? bearerChallenge(id)
          : bearerChallenge(id, code, "the access token is expired, revoked or invalid"),
    },
  });
