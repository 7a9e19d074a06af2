/** The user of an access token with the scope `openid`, alone (RFC 6750) or with the proof of its key (RFC 9449 §7). */
import { constantTimeEqual } from "@signet/protocol/hash";
import {
  bearerChallenge,
  dpopChallenge,
  parseBearer,
  parseDpopToken,
} from "@signet/protocol/oauth/authorization-header";
import { OAuthError, type OAuthErrorCode } from "@signet/protocol/oauth/oauth-error";
import type { ApplicationDirectory } from "../../core/applications/applications.ts";
import type { PresentedDeviceDeps } from "../../core/devices/presented-device.ts";
import { invalidProof, useDpopProof } from "../../core/dpop/dpop-proof.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { AccessTokens } from "../../core/tokens/access-tokens.ts";
import type { AccessTokenClaims } from "../../core/tokens/claims.ts";
import type { User } from "../../core/users/user.ts";
import { findUser } from "../../core/users/users.store.ts";
import type { Database } from "../../db/open.ts";
import type { Call } from "../../http/calls/call.ts";
import { hasBoundCertificate } from "./client-authentication/client-device.ts";
import {
  atEndpoint,
  type DpopDeps,
  dpopAlgorithms,
  type ProofSettings,
  type ProvableRequest,
  presentedProof,
} from "./sender-constraint.ts";

export interface BearerDeps extends PresentedDeviceDeps, DpopDeps {
  readonly database: Database;
  readonly applications: ApplicationDirectory;
  readonly accessTokens: AccessTokens;
}

export interface BearerAuthentication {
  readonly user: User;
  readonly claims: AccessTokenClaims;
  /** Those of the token that were granted to its client. */
  readonly scopes: readonly string[];
}

/** @throws OAuthError with the challenge of RFC 6750 §3 */
export async function authenticateBearer(
  deps: BearerDeps,
  organisation: Organisation,
  call: Call,
): Promise<BearerAuthentication> {
  const { claims, scopes } = await authenticateToken(deps, organisation, call, "openid");
  const user = await findUser(deps.database.query, organisation.id, claims.sub);
  if (!user) throw bearerError(organisation, "invalid_token", "the access token has no user");
  return { user, claims, scopes };
}

/** Of a user or of a client itself. @throws OAuthError with the challenge of RFC 6750 §3 */
export async function authenticateToken(
  deps: BearerDeps,
  organisation: Organisation,
  call: Call,
  scope: string,
): Promise<Omit<BearerAuthentication, "user">> {
  const presented = presentedToken(call, organisation);
  const { token, isDpop } = presented;
  const fail = isDpop ? dpopError : bearerError;
  const claims = await deps.accessTokens.read(organisation, token);
  const scopes = claims && (await deps.accessTokens.activeScopes(organisation, claims));
  if (!scopes) throw fail(organisation, "invalid_token", "the access token is expired, revoked or invalid");
  if (!(await hasBoundCertificate(deps, organisation, call, claims)))
    throw fail(
      organisation,
      "invalid_token",
      "the access token is bound to a certificate that the request does not have",
    );
  await requireProof(deps, organisation, call, { ...presented, claims });
  if (!scopes.includes(scope))
    throw fail(organisation, "insufficient_scope", `the scope ${scope} is required`, scope);
  return { claims, scopes };
}

export interface PresentedToken {
  readonly token: string;
  /** By the scheme DPoP. */
  readonly isDpop: boolean;
}

/** A token of a key comes with a proof by that key, and no other token does (RFC 9449 §7). @throws OAuthError */
async function requireProof(
  deps: BearerDeps,
  organisation: Organisation,
  call: Call,
  presented: PresentedToken & { readonly claims: AccessTokenClaims },
): Promise<void> {
  try {
    await proveToken(deps, organisation, atEndpoint(deps, organisation, call), presented);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    throw dpopError(organisation, error.code, error.description);
  }
}

/**
 * The same wherever access tokens are taken. The proof is used up.
 * @throws OAuthError without a challenge: invalid_token, invalid_dpop_proof, use_dpop_nonce
 */
export async function proveToken(
  deps: Pick<BearerDeps, "applications" | "database"> & DpopDeps,
  organisation: Organisation,
  request: ProvableRequest,
  { token, isDpop, claims }: PresentedToken & { readonly claims: AccessTokenClaims },
): Promise<void> {
  const jkt = claims.cnf?.jkt;
  if (jkt === undefined && !isDpop) return;
  if (jkt === undefined) throw new OAuthError("invalid_token", "the access token is not bound to a key");
  if (!isDpop)
    throw new OAuthError("invalid_token", "the access token is bound to a key: use the scheme DPoP");
  const client = await deps.applications.find(organisation.id, claims.client_id);
  const settings: ProofSettings = client?.settings ?? { requireDpopNonce: false, securityProfile: "none" };
  const proof = presentedProof(deps, organisation, request, settings, token);
  if (!proof) throw invalidProof("the DPoP header is missing");
  if (!constantTimeEqual(proof.jkt, jkt))
    throw new OAuthError("invalid_token", "the access token is bound to another key");
  await useDpopProof(deps.database.query, organisation.id, proof);
}

/** In the header or in the form, not in both (RFC 6750 §2); a query would end up in logs. */
function presentedToken({ form, headers, query }: Call, organisation: Organisation): PresentedToken {
  if (form.repeated.size > 0) {
    throw bearerError(organisation, "invalid_request", "a parameter is repeated");
  }
  const inBody = form.values.get("access_token");
  const { authorization } = headers;
  if (query().values.has("access_token")) {
    throw bearerError(organisation, "invalid_request", "the access token must not be in the query");
  }
  if (authorization !== undefined && inBody !== undefined) {
    throw bearerError(organisation, "invalid_request", "the access token was sent twice");
  }
  const ofKey = inBody === undefined ? parseDpopToken(authorization) : undefined;
  if (ofKey !== undefined) return { token: ofKey, isDpop: true };
  const token = inBody ?? parseBearer(authorization);
  if (token !== undefined) return { token, isDpop: false };
  // RFC 6750 §3.1: the challenge for a request without credentials has no error code.
  throw new OAuthError("invalid_token", "an access token is required", {
    wwwAuthenticate: bearerChallenge(organisation.id),
  });
}

/** Of a key: a 401 whose challenge names the scheme that works (RFC 9449 §7.1). */
const dpopError = (
  { id }: Organisation,
  code: OAuthErrorCode,
  description: string,
  scope?: string,
): OAuthError =>
  new OAuthError(code, description, {
    ...(code === "insufficient_scope" ? {} : { status: 401 }),
    wwwAuthenticate: dpopChallenge(id, code, description, { algs: dpopAlgorithms, scope }),
  });

function bearerError(
  organisation: Organisation,
  code: "invalid_request" | "invalid_token" | "insufficient_scope",
  description: string,
  scope?: string,
): OAuthError {
  return new OAuthError(code, description, {
    wwwAuthenticate: bearerChallenge(organisation.id, code, description, scope),
  });
}
