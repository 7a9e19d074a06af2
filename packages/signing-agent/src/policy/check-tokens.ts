/** The policy checks between a claimed request and its signature (sovereign-signing.md §6). */
import { isSubset, parseScope } from "@signet/protocol/oauth/scope";
import { quoted, Refusal } from "../agent/refusal.ts";
import type { AgentKey } from "../keys/key-source.ts";
import type { ClaimedRequest, RequestContext } from "../service/signing-service.ts";
import { checkActors, checkBinding, checkDetails } from "./check-demands.ts";
import {
  audiences,
  type DecodedToken,
  decodeTokens,
  isSameJson,
  optionalConfirmation,
  optionalTextClaim,
  optionalTextList,
  optionalTimeClaim,
  requireEqual,
  textClaim,
  timeClaim,
} from "./decode-token.ts";
import { type ClientPolicy, type GrantName, grantName, type Policy } from "./policy.ts";

export type CheckedToken = ReturnType<typeof checkCommonClaims>;
export type CheckedRequest = ReturnType<typeof checkRequest>;

interface CheckOptions {
  readonly policy: Policy;
  readonly keys: readonly AgentKey[];
  /** Milliseconds. */
  readonly now: number;
}

/** Between the clocks of service and agent. */
const MAX_SKEW_SECONDS = 60;

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
) {
  const { accessToken, idToken } = decodeTokens(tokens);
  const { policy } = options;
  const clientId = textClaim(accessToken, "client_id");
  const client = policy.clients.get(clientId);
  if (!client) throw new Refusal("client", `client ${quoted(clientId)} is not in the policy`);
  const grant = grantName(context.grantType);
  if (grant === undefined || !client.grants.includes(grant))
    throw new Refusal("grant", `grant ${quoted(context.grantType)} is not allowed for this client`);
  checkConnection(context, client, grant);
  const rules = { ...options, context, client, clientId };
  const access = checkAccessToken(accessToken, grant, rules);
  return {
    clientId,
    client,
    grant,
    sub: access.sub,
    /** Of the access token, without the issuer, which is always allowed. */
    aud: access.aud.filter((one) => one !== policy.issuer),
    scopes: readScopes(accessToken),
    /** The access token first. */
    tokens: idToken ? [access, checkIdToken(idToken, access, grant, rules)] : [access],
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

interface Rules extends CheckOptions {
  readonly context: RequestContext;
  readonly client: ClientPolicy;
  readonly clientId: string;
}

function checkAccessToken(token: DecodedToken, grant: GrantName, rules: Rules): CheckedToken {
  const { context, client, clientId, policy } = rules;
  const checked = checkCommonClaims(token, "at+jwt", accessTokenClaims, rules);
  requireEqual(token, "client_id", context.clientId, clientId);
  const unexpected = checked.aud.find((one) => one !== policy.issuer && !client.aud.includes(one));
  if (unexpected !== undefined)
    throw new Refusal("aud", `audience ${quoted(unexpected)} is not allowed for this client`);
  if (checked.jti === undefined) throw new Refusal("jti", "access_token: jti is missing");
  optionalTextClaim(token, "org_id");
  // With client_credentials the client is the subject, and only then.
  if ((grant === "client_credentials") !== (checked.sub === clientId))
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

function checkIdToken(token: DecodedToken, access: CheckedToken, grant: GrantName, rules: Rules) {
  const { clientId } = rules;
  const checked = checkCommonClaims(token, "JWT", idTokenClaims, rules);
  if (grant === "client_credentials") throw new Refusal("tokens", "an ID token without a user");
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
  const exp = checkTimes(token, rules);
  optionalTextList(token, "amr");
  optionalTextClaim(token, "acr");
  return { ...token, key, sub, exp, jti: optionalTextClaim(token, "jti"), aud: audiences(token) };
}

const headerMembers = ["alg", "kid", "typ", "x5c"];

/** Only alg, kid, typ and the key's own certificates: `jwk` or `jku` could name another key. */
function checkHeader({ header, use }: DecodedToken, typ: string, keys: readonly AgentKey[]): AgentKey {
  const unexpected = Object.keys(header).find((name) => !headerMembers.includes(name));
  if (unexpected !== undefined)
    throw new Refusal("header", `${use}: header member ${quoted(unexpected)} is not allowed`);
  const key = keys.find(({ kid }) => kid === header["kid"]);
  if (!key) throw new Refusal("header", `${use}: kid ${quoted(header["kid"])} is not a key of this agent`);
  if (header["alg"] !== key.alg)
    throw new Refusal("header", `${use}: alg ${quoted(header["alg"])} does not match the key's ${key.alg}`);
  if (header["typ"] !== typ)
    throw new Refusal("header", `${use}: typ ${quoted(header["typ"])} instead of ${typ}`);
  const { x5c } = header;
  const isOwn =
    Array.isArray(x5c) &&
    x5c.length === key.x5c?.length &&
    x5c.every((one, index) => one === key.x5c?.[index]);
  if (x5c !== undefined && !isOwn)
    throw new Refusal("header", `${use}: x5c is not the key's certificate chain`);
  return key;
}

function checkTimes(token: DecodedToken, { client, now }: Rules): number {
  const { use } = token;
  const seconds = now / 1000;
  const iat = timeClaim(token, "iat");
  const exp = timeClaim(token, "exp");
  // It may be this machine's clock that is wrong: another agent may try.
  if (Math.abs(iat - seconds) > MAX_SKEW_SECONDS) {
    const difference = `${Math.round(iat - seconds)} s`;
    const message = `${use}: iat differs by ${difference} from this machine's clock`;
    throw new Refusal("iat", message, { retryable: true });
  }
  const lifetime = exp - iat;
  const { maxLifetime } = client;
  if (lifetime <= 0 || lifetime > maxLifetime)
    throw new Refusal("lifetime", `${use}: lifetime of ${lifetime} s; at most ${maxLifetime} s allowed`);
  const future = Math.max(optionalTimeClaim(token, "nbf") ?? 0, optionalTimeClaim(token, "auth_time") ?? 0);
  if (future - seconds > MAX_SKEW_SECONDS)
    throw new Refusal("iat", `${use}: nbf or auth_time is in the future`);
  return exp;
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

const lifetime = ({ claims, exp }: CheckedToken): number => exp - Number(claims["iat"]);
