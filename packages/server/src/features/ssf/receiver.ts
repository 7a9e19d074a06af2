/** Who calls the transmitter: a client, by an access token of its own (client credentials; RFC 6750). */
import { bearerChallenge, parseBearer, parseDpopToken } from "@signet/protocol/oauth/authorization-header";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Application } from "../../core/applications/application.ts";
import type { ApplicationDirectory } from "../../core/applications/applications.ts";
import { noteCaller } from "../../core/audit/audited-request.ts";
import type { CoreDeps } from "../../core/core-deps.ts";
import type { Encryption } from "../../core/encryption/encryption.ts";
import type { EventStream } from "../../core/event-streams/event-stream.ts";
import { findStream } from "../../core/event-streams/event-streams.store.ts";
import type { LedgerRecorder } from "../../core/ledger/recorder.ts";
import { issuerOf, type Organisation } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import type { CustomScopeDirectory } from "../../core/scopes/custom-scopes.ts";
import { type SignalScope, withoutCustom } from "../../core/scopes/scopes.ts";
import type { SigningKeys } from "../../core/signing-keys/signing-keys.ts";
import type { AccessTokens } from "../../core/tokens/access-tokens.ts";
import type { AccessTokenClaims } from "../../core/tokens/claims.ts";
import { familyIdFromTokenId } from "../../core/tokens/token-family.ts";
import { ApiError, notFound } from "../../http/api/api-error.ts";
import { addressOf } from "../../http/listeners/client-address.ts";
import { inOrganisation, type OrganisationRoute } from "../../http/organisation-lookup.ts";

export interface SsfDeps extends CoreDeps {
  readonly baseUrl: string;
  readonly organisations: OrganisationDirectory;
  readonly applications: ApplicationDirectory;
  readonly accessTokens: AccessTokens;
  readonly customScopes: CustomScopeDirectory;
  readonly encryption: Encryption;
  readonly keys: SigningKeys;
  readonly ledger: LedgerRecorder;
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

export interface ReceiverCall {
  readonly organisation: Organisation;
  readonly client: Application;
  /** For what is audited. */
  readonly act: { readonly orgId: string; readonly actor: string; readonly address: string };
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** `ssf.manage` includes to read. */
export const receiverRoute = (
  deps: SsfDeps,
  scope: SignalScope,
  handler: (call: ReceiverCall) => Promise<unknown>,
): OrganisationRoute =>
  inOrganisation<Organisation>(deps.organisations.find, async ({ organisation, request, reply }) => {
    reply.header("cache-control", "no-store");
    const client = await identify(deps, organisation, { request, reply }, scope);
    noteCaller(organisation.id, client.id);
    const act = { orgId: organisation.id, actor: `client:${client.id}`, address: addressOf(request) };
    return handler({ organisation, client, act, request, reply });
  });

/** @throws ApiError 401, 403 */
async function identify(
  deps: SsfDeps,
  organisation: Organisation,
  exchange: Pick<ReceiverCall, "request" | "reply">,
  scope: SignalScope,
): Promise<Application> {
  const { authorization } = exchange.request.headers;
  const ofKey = parseDpopToken(authorization);
  const token = ofKey ?? parseBearer(authorization);
  if (token === undefined) throw unauthenticated("no access token");
  const claims = await deps.accessTokens.read(organisation, token);
  const client = claims && (await deps.applications.find(organisation.id, claims.client_id));
  const active = client && (await deps.accessTokens.activeScopes(organisation, claims));
  if (!active || !isOwnToken(deps, organisation, client, claims))
    throw unauthenticated("no token of a client's own for this transmitter", "invalid_token");
  await deps
    .proveBinding(organisation, exchange, { token, claims, isDpop: ofKey !== undefined })
    .catch(unproven);
  const scopes = withoutCustom(active, await deps.customScopes.list(organisation.id));
  if (!scopes.includes("ssf.manage") && !(scope === "ssf.read" && scopes.includes("ssf.read")))
    throw insufficientScope(scope);
  return client;
}

/** One that an API got from the client is not the client: its audience is the API alone. */
function isOwnToken(
  { baseUrl }: SsfDeps,
  { id }: Organisation,
  client: Application,
  { aud, jti, sub }: AccessTokenClaims,
): boolean {
  const issuer = issuerOf(baseUrl, id);
  const ours = [issuer, `${issuer}/ssf`, client.id];
  const isOurs = [aud].flat().some((one) => ours.includes(one));
  return isOurs && familyIdFromTokenId(jti) === undefined && sub === client.id;
}

const REALM = "ssf";

function unproven(error: unknown): never {
  throw error instanceof OAuthError ? unauthenticated(error.description, "invalid_token") : error;
}

const unauthenticated = (cause: string, code?: "invalid_token") =>
  new ApiError(401, "not-authenticated", "The request is not authenticated", {
    cause,
    headers: { "www-authenticate": bearerChallenge(REALM, code) },
  });

const insufficientScope = (scope: SignalScope) =>
  new ApiError(403, "insufficient-scope", "The access token lacks a scope", {
    detail: `Request a token with the scope ${scope}.`,
    headers: { "www-authenticate": bearerChallenge(REALM, "insufficient_scope", undefined, scope) },
  });

/** The client's own. @throws ApiError 404 */
export async function requireStream(
  { database }: SsfDeps,
  { organisation, client }: ReceiverCall,
  id: unknown,
): Promise<EventStream> {
  const stream =
    typeof id === "string" && id.length <= 100
      ? await findStream(database.query, { orgId: organisation.id, id: id.toLowerCase() })
      : undefined;
  if (stream?.clientId !== client.id) throw notFound();
  return stream;
}
