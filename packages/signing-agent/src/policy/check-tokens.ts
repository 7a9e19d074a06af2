/** The policy checks between a claimed request and its signature (sovereign-signing.md §6). */
import { isSubset, parseScope } from "@signet/protocol/oauth/scope";
import { quoted, Refusal } from "../agent/refusal.ts";
import type { AgentKey } from "../keys/key-source.ts";
import type { ClaimedRequest, RequestContext } from "../service/signing-service.ts";
import { checkActors, checkBinding, checkDetails } from "./check-demands.ts";
import { checkHeader, checkTimes } from "./check-header.ts";
import { type CheckedMessage, checkMessage, type MessageRules } from "./check-messages.ts";
import {
  audiences,
  type DecodedToken,
  decodeTokens,
  isSameJson,
  optionalConfirmation,
  optionalTextClaim,
  optionalTextList,
  requireEqual,
  textClaim,
} from "./decode-token.ts";
import { type ClientPolicy, type GrantName, grantName, requiredChallenge } from "./policy.ts";

type CheckedClaims = ReturnType<typeof checkCommonClaims>;

/** A token, or a message. */
export interface CheckedToken extends DecodedToken {
  readonly key: AgentKey;
  readonly sub: string | undefined;
  /** Seconds since the epoch. */
  readonly exp: number | undefined;
  readonly jti: string | undefined;
  readonly aud: readonly string[];
}

type CheckOptions = Omit<MessageRules, "context">;

const accessTokenClaims =
  "iss sub aud exp iat nbf jti client_id org_id scope auth_time amr acr device_id device_attestation cnf authorization_details act".split(
    " ",
  );
const idTokenClaims = "iss sub aud azp exp iat nbf jti auth_time amr acr nonce sid".split(" ");

/**
 * Everything that depends on request and policy alone; rate limits, reuse of a jti and challenges come afterwards.
 * @throws Refusal for the first check that fails
 */
export function checkRequest(
  { context, tokens }: Pick<ClaimedRequest, "context" | "tokens">,
  options: CheckOptions,
): CheckedRequest {
  const { accessToken, idToken, message } = decodeTokens(tokens);
  const rules = { ...options, context };
  if (accessToken) return checkTokenRequest({ accessToken, idToken, message }, rules);
  if (!message) throw new Refusal("tokens", "nothing to sign");
  return messageRequest(checkMessage(message, rules, undefined), context);
}

export interface CheckedRequest {
  readonly clientId: string;
  readonly client: ClientPolicy;
  /** The policy's name of the grant; of an answer that belongs to none, what it answers. */
  readonly grant: string;
  /** The client itself, where no user is told of. */
  readonly sub: string;
  /** Of the access token, without the issuer, which is always allowed. */
  readonly aud: readonly string[];
  readonly scopes: readonly string[];
  /** The access token first. */
  readonly tokens: readonly CheckedToken[];
  /** That the user must pass before anything is signed. */
  readonly challenge: ClientPolicy["challenge"];
}

interface Decoded {
  readonly accessToken: DecodedToken;
  readonly idToken: DecodedToken | undefined;
  readonly message: DecodedToken | undefined;
}

function checkTokenRequest(
  { accessToken, idToken, message }: Decoded,
  options: MessageRules,
): CheckedRequest {
  const { policy, context } = options;
  const clientId = textClaim(accessToken, "client_id");
  const client = policy.clients.get(clientId);
  if (!client) throw new Refusal("client", `client ${quoted(clientId)} is not in the policy`);
  const grant = grantName(context.grantType);
  if (grant === undefined || !client.grants.includes(grant))
    throw new Refusal("grant", `grant ${quoted(context.grantType)} is not allowed for this client`);
  checkConnection(context, client, grant);
  const rules = { ...options, client, clientId };
  const access = checkAccessToken(accessToken, grant, rules);
  return {
    clientId,
    client,
    grant,
    sub: access.sub,
    aud: access.aud.filter((one) => one !== policy.issuer),
    scopes: readScopes(accessToken),
    tokens: [
      access,
      ...(idToken ? [checkIdToken(idToken, access, grant, rules)] : []),
      ...(message ? [checkMessage(message, options, clientId)] : []),
    ],
    challenge: requiredChallenge(client, grant),
  };
}

/** Nobody is asked for an answer to a client, or for an error. An identity assertion gives access: who always asks, asks for it too. */
function messageRequest(message: CheckedMessage, context: RequestContext): CheckedRequest {
  const { use, client, clientId, sub = clientId, aud, scopes } = message;
  const isAssertion = use === "id_jag";
  return {
    ...{ clientId, client, sub, aud, scopes, tokens: [message] },
    grant: grantName(context.grantType) ?? context.grantType,
    challenge: isAssertion ? requiredChallenge(client, "token_exchange") : undefined,
  };
}

/** What the service states about the sign-in of the user, in the context alone: no token has it. */
function checkConnection(
  { connection }: RequestContext,
  { connection: required }: ClientPolicy,
  grant: GrantName,
): void {
  if (!required || grant === "client_credentials") return;
  if (!connection || !required.ids.includes(connection.id))
    throw new Refusal(
      "connection",
      `connection ${quoted(connection?.id ?? "none")} is not allowed for this client`,
    );
  const { acr, amr } = connection;
  if (required.acr && !required.acr.includes(acr ?? ""))
    throw new Refusal("connection", `acr ${quoted(acr ?? "none")} of the connection is not allowed`);
  if (required.amr && !required.amr.some((method) => amr?.includes(method)))
    throw new Refusal("connection", "the amr of the connection has none of those that are allowed");
}

interface Rules extends MessageRules {
  readonly client: ClientPolicy;
  readonly clientId: string;
}

function checkAccessToken(token: DecodedToken, grant: GrantName, rules: Rules): CheckedClaims {
  const { context, client, clientId, policy } = rules;
  const checked = checkCommonClaims(token, "at+jwt", accessTokenClaims, rules);
  requireEqual(token, "client_id", context.clientId, clientId);
  const unexpected = checked.aud.find((one) => one !== policy.issuer && !client.aud.includes(one));
  if (unexpected !== undefined)
    throw new Refusal("aud", `audience ${quoted(unexpected)} is not allowed for this client`);
  if (checked.jti === undefined) throw new Refusal("jti", "access_token: jti is missing");
  optionalTextClaim(token, "org_id");
  // With client_credentials the client is the subject, and only then; a workload's assertion may be for it too.
  if (grant !== "jwt_bearer" && (grant === "client_credentials") !== (checked.sub === clientId))
    throw new Refusal("sub", `subject ${quoted(checked.sub)} does not fit grant ${grant}`);
  checkScopes(token, rules);
  checkDevice(token);
  checkDemands(token, rules);
  return checked;
}

/** The device a token is for, and the certificate (RFC 8705 §3.1) or key (RFC 9449 §6.1) it is bound to: all only restrict its use. */
function checkDevice(token: DecodedToken): void {
  const device = optionalTextClaim(token, "device_id");
  const attestation = optionalTextClaim(token, "device_attestation");
  if (attestation !== undefined && attestation !== "none" && attestation !== "tpm")
    throw new Refusal("device_attestation", `access_token: attestation ${quoted(attestation)} is unknown`);
  if (device === undefined && attestation !== undefined)
    throw new Refusal("device_id", "access_token: device claims without device_id");
  optionalConfirmation(token);
}

function checkDemands(token: DecodedToken, { client, context }: Rules): void {
  checkBinding(token, client, context);
  checkDetails(token, client, context);
  checkActors(token, client, context);
  if (!client.resources) return;
  const asked = context.resources ?? [];
  const unexpected = asked.find((one) => !client.resources?.includes(one));
  if (asked.length === 0 || unexpected !== undefined)
    throw new Refusal("resources", `resource ${quoted(unexpected ?? "none")} is not allowed for this client`);
}

function checkScopes(token: DecodedToken, { client, context }: Rules): void {
  const scopes = readScopes(token);
  const unexpected = scopes.find((one) => !client.scopes.includes(one));
  if (unexpected !== undefined)
    throw new Refusal("scope", `scope ${quoted(unexpected)} is not allowed for this client`);
  if (!isSubset(scopes, context.scope) || !isSubset(context.scope, scopes))
    throw new Refusal("scope", "the scopes of the request differ from those in the token");
}

function readScopes(token: DecodedToken): readonly string[] {
  const scope = optionalTextClaim(token, "scope");
  const scopes = scope === undefined ? [] : parseScope(scope);
  if (!scopes) throw new Refusal("scope", "access_token: scope is malformed");
  return scopes;
}

const withoutIdToken: readonly GrantName[] = ["client_credentials", "token_exchange", "jwt_bearer"];

function checkIdToken(token: DecodedToken, access: CheckedClaims, grant: GrantName, rules: Rules) {
  const { clientId } = rules;
  const checked = checkCommonClaims(token, "JWT", idTokenClaims, rules);
  if (withoutIdToken.includes(grant)) throw new Refusal("tokens", `an ID token with grant ${grant}`);
  if (!readScopes(access).includes("openid"))
    throw new Refusal("tokens", "an ID token without the scope openid");
  requireEqual(token, "sub", checked.sub, access.sub);
  requireEqual(token, "aud", checked.aud.join(" "), clientId);
  requireEqual(token, "azp", optionalTextClaim(token, "azp") ?? clientId, clientId);
  if (checked.jti !== undefined && checked.jti === access.jti)
    throw new Refusal("jti", "both tokens have the same jti");
  optionalTextClaim(token, "nonce");
  optionalTextClaim(token, "sid");
  return checked;
}

function checkCommonClaims(token: DecodedToken, typ: string, known: readonly string[], rules: Rules) {
  const { policy, client, context } = rules;
  const key = checkHeader(token, typ, rules.keys);
  requireEqual(token, "iss", textClaim(token, "iss"), policy.issuer);
  requireEqual(token, "iss", context.issuer, policy.issuer);
  const sub = textClaim(token, "sub");
  requireEqual(token, "sub", context.sub, sub);
  const allowed = [...known, ...(client.claims ?? [])];
  const unexpected = Object.keys(token.claims).find((name) => !allowed.includes(name));
  if (unexpected !== undefined)
    throw new Refusal("claims", `${token.use}: claim ${quoted(unexpected)} is not allowed for this client`);
  const exp = checkTimes(token, { now: rules.now, maxLifetime: client.maxLifetime });
  optionalTextList(token, "amr");
  optionalTextClaim(token, "acr");
  return { ...token, key, sub, exp, jti: optionalTextClaim(token, "jti"), aud: audiences(token) };
}

const renewedClaims = ["iat", "exp", "jti"];

/**
 * Both have passed the policy; but the user may have confirmed the first ones, so the others must state the same.
 * @throws Refusal when more than iat, exp and jti changed
 */
export function requireOnlyRenewed(before: CheckedRequest, after: CheckedRequest): void {
  if (before.tokens.length !== after.tokens.length) throw changed("numbers of tokens");
  before.tokens.forEach((token, index) => {
    const other = after.tokens[index];
    if (!other || other.use !== token.use || !isSameJson(token.header, other.header)) throw changed("header");
    if (!isSameJson(stableClaims(token), stableClaims(other))) throw changed("claims");
    if (lifetime(other) > lifetime(token)) throw changed("lifetime");
  });
}

const changed = (what: string) =>
  new Refusal("stale_payload", `the tokens were rendered again with different ${what}`);

const stableClaims = ({ claims }: CheckedToken) =>
  Object.fromEntries(Object.entries(claims).filter(([name]) => !renewedClaims.includes(name)));

/** Of an answer without an end none. */
const lifetime = ({ claims, exp }: CheckedToken): number =>
  exp === undefined ? 0 : exp - Number(claims["iat"]);
