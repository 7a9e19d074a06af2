/** Every check between a claimed request and a signature (sovereign-signing.md §6). */
import { isSubset, parseScope } from "@signet/protocol/oauth/scope";
import type { AgentKey } from "../keys/key-source.ts";
import { quoted, Refusal } from "../refusal.ts";
import type { ClaimedRequest, RequestContext } from "../service/messages.ts";
import {
  audiences,
  mustBe,
  optionalConfirmation,
  optionalTextClaim,
  optionalTextList,
  optionalTimeClaim,
  textClaim,
  timeClaim,
} from "./claim-values.ts";
import { type DecodedToken, decodeTokens } from "./decode-token.ts";
import { type ClientPolicy, type GrantName, grantName, type Policy } from "./policy.ts";

export interface CheckedToken extends DecodedToken {
  readonly key: AgentKey;
  readonly jti: string | undefined;
  readonly sub: string;
  readonly aud: readonly string[];
  /** Seconds since the epoch. */
  readonly exp: number;
}

export interface CheckedRequest {
  readonly clientId: string;
  readonly client: ClientPolicy;
  readonly grant: GrantName;
  readonly sub: string;
  /** Of the access token; without the issuer itself, which may always be one. */
  readonly aud: readonly string[];
  /** Of the access token. */
  readonly scopes: readonly string[];
  /** The access token first. */
  readonly tokens: readonly CheckedToken[];
}

export interface CheckOptions {
  readonly policy: Policy;
  readonly keys: readonly AgentKey[];
  /** Milliseconds. */
  readonly now: number;
}

/** Seconds that the clocks of service and agent may differ. */
export const MOST_SKEW_SECONDS = 60;

const accessTokenClaims = [
  ...[
    "iss",
    "sub",
    "aud",
    "exp",
    "iat",
    "nbf",
    "jti",
    "client_id",
    "org_id",
    "scope",
    "auth_time",
    "amr",
    "acr",
    "device_id",
    "device_attestation",
    "cnf",
  ],
];
const idTokenClaims = [
  ...["iss", "sub", "aud", "azp", "exp", "iat", "nbf", "jti", "auth_time", "amr", "acr", "nonce", "sid"],
];

/**
 * The request as far as the policy alone can tell: what is left are the limits, whether a jti was seen, and a challenge.
 * @throws Refusal naming the first thing that does not hold
 */
export function checkRequest(
  request: Pick<ClaimedRequest, "context" | "tokens">,
  options: CheckOptions,
): CheckedRequest {
  const { context } = request;
  const { accessToken, idToken } = decodeTokens(request.tokens);
  const { policy } = options;
  const clientId = textClaim(accessToken, "client_id");
  const client = policy.clients.get(clientId);
  if (!client) throw new Refusal("client", `client ${quoted(clientId)} is not in the policy`);
  const grant = grantName(context.grantType);
  if (grant === undefined || !client.grants.includes(grant))
    throw new Refusal("grant", `grant ${quoted(context.grantType)} is not allowed for this client`);
  const rules = { ...options, context, client, clientId };
  const access = checkAccessToken(accessToken, grant, rules);
  const tokens = idToken ? [access, checkIdToken(idToken, access, grant, rules)] : [access];
  const aud = access.aud.filter((one) => one !== policy.issuer);
  return { clientId, client, grant, sub: access.sub, aud, scopes: scopesOf(accessToken), tokens };
}

interface Rules extends CheckOptions {
  readonly context: RequestContext;
  readonly client: ClientPolicy;
  readonly clientId: string;
}

function checkAccessToken(token: DecodedToken, grant: GrantName, rules: Rules): CheckedToken {
  const { context, client, clientId, policy } = rules;
  const checked = checkBoth(token, "at+jwt", accessTokenClaims, rules);
  mustBe(token, "client_id", context.clientId, clientId);
  const stranger = checked.aud.find((one) => one !== policy.issuer && !client.aud.includes(one));
  if (stranger !== undefined)
    throw new Refusal("aud", `audience ${quoted(stranger)} is not allowed for this client`);
  if (checked.jti === undefined) throw new Refusal("jti", "access_token: jti is missing");
  optionalTextClaim(token, "org_id");
  // A client that speaks for itself is its own subject, and nobody else's request may look like that.
  if ((grant === "client_credentials") !== (checked.sub === clientId))
    throw new Refusal("sub", `subject ${quoted(checked.sub)} does not go with grant ${grant}`);
  checkScopes(token, rules);
  checkDevice(token);
  return checked;
}

/** The device that a token is for, and the certificate that it is bound to (RFC 8705 §3.1): both make it good for less. */
function checkDevice(token: DecodedToken): void {
  const device = optionalTextClaim(token, "device_id");
  const attestation = optionalTextClaim(token, "device_attestation");
  if (attestation !== undefined && attestation !== "none" && attestation !== "tpm")
    throw new Refusal("device_attestation", `access_token: attestation ${quoted(attestation)} is unknown`);
  if (device === undefined && (attestation !== undefined || Object.hasOwn(token.claims, "cnf")))
    throw new Refusal("device_id", "access_token: what is said of a device names none");
  optionalConfirmation(token);
}

function checkScopes(token: DecodedToken, { client, context }: Rules): void {
  const scopes = scopesOf(token);
  const stranger = scopes.find((one) => !client.scopes.includes(one));
  if (stranger !== undefined)
    throw new Refusal("scope", `scope ${quoted(stranger)} is not allowed for this client`);
  if (!isSubset(scopes, context.scope) || !isSubset(context.scope, scopes))
    throw new Refusal("scope", "the scopes beside the token differ from those in it");
}

function scopesOf(token: DecodedToken): readonly string[] {
  const scope = optionalTextClaim(token, "scope");
  const scopes = scope === undefined ? [] : parseScope(scope);
  if (!scopes) throw new Refusal("scope", "access_token: scope is malformed");
  return scopes;
}

function checkIdToken(
  token: DecodedToken,
  access: CheckedToken,
  grant: GrantName,
  rules: Rules,
): CheckedToken {
  const { clientId } = rules;
  const checked = checkBoth(token, "JWT", idTokenClaims, rules);
  if (grant === "client_credentials") throw new Refusal("tokens", "an ID token where there is no user");
  if (
    !String(access.claims["scope"] ?? "")
      .split(" ")
      .includes("openid")
  )
    throw new Refusal("tokens", "an ID token without the scope openid");
  mustBe(token, "sub", checked.sub, access.sub);
  mustBe(token, "aud", checked.aud.join(" "), clientId);
  mustBe(token, "azp", optionalTextClaim(token, "azp") ?? clientId, clientId);
  if (checked.jti !== undefined && checked.jti === access.jti)
    throw new Refusal("jti", "both tokens have the same jti");
  optionalTextClaim(token, "nonce");
  optionalTextClaim(token, "sid");
  return checked;
}

function checkBoth(token: DecodedToken, typ: string, known: readonly string[], rules: Rules): CheckedToken {
  const { policy, client, context } = rules;
  const key = checkHeader(token, typ, rules.keys);
  mustBe(token, "iss", textClaim(token, "iss"), policy.issuer);
  mustBe(token, "iss", context.issuer, policy.issuer);
  const sub = textClaim(token, "sub");
  mustBe(token, "sub", context.sub, sub);
  const allowed = [...known, ...(client.claims ?? [])];
  const stranger = Object.keys(token.claims).find((name) => !allowed.includes(name));
  if (stranger !== undefined)
    throw new Refusal("claims", `${token.use}: claim ${quoted(stranger)} is not allowed for this client`);
  const exp = checkTimes(token, rules);
  optionalTextList(token, "amr");
  optionalTextClaim(token, "acr");
  return { ...token, key, sub, exp, jti: optionalTextClaim(token, "jti"), aud: audiences(token) };
}

const headerMembers = ["alg", "kid", "typ", "x5c"];

/** Exactly alg, kid, typ and the key's own certificates: a `jwk` or `jku` in here would name another key. */
function checkHeader({ header, use }: DecodedToken, typ: string, keys: readonly AgentKey[]): AgentKey {
  const stranger = Object.keys(header).find((name) => !headerMembers.includes(name));
  if (stranger !== undefined) throw new Refusal("header", `${use}: header member ${quoted(stranger)}`);
  const key = keys.find(({ kid }) => kid === header["kid"]);
  if (!key) throw new Refusal("header", `${use}: kid ${quoted(header["kid"])} is no key of this agent`);
  if (header["alg"] !== key.alg)
    throw new Refusal("header", `${use}: alg ${quoted(header["alg"])} is not ${key.alg}, the key's own`);
  if (header["typ"] !== typ)
    throw new Refusal("header", `${use}: typ ${quoted(header["typ"])} is not ${typ}`);
  const { x5c } = header;
  const isOwn =
    Array.isArray(x5c) &&
    x5c.length === key.x5c?.length &&
    x5c.every((one, index) => one === key.x5c?.[index]);
  if (x5c !== undefined && !isOwn) throw new Refusal("header", `${use}: x5c is not the key's own chain`);
  return key;
}

function checkTimes(token: DecodedToken, { client, now }: Rules): number {
  const seconds = now / 1000;
  const iat = timeClaim(token, "iat");
  const exp = timeClaim(token, "exp");
  // Perhaps it is this machine's clock: another agent may look at it too.
  if (Math.abs(iat - seconds) > MOST_SKEW_SECONDS)
    throw new Refusal("iat", `${token.use}: iat is ${Math.round(iat - seconds)} s off this machine's clock`, {
      retryable: true,
    });
  const lifetime = exp - iat;
  if (lifetime <= 0 || lifetime > client.maxLifetime)
    throw new Refusal(
      "lifetime",
      `${token.use}: a lifetime of ${lifetime} s, at most ${client.maxLifetime} s is allowed`,
    );
  const future = Math.max(optionalTimeClaim(token, "nbf") ?? 0, optionalTimeClaim(token, "auth_time") ?? 0);
  if (future - seconds > MOST_SKEW_SECONDS)
    throw new Refusal("iat", `${token.use}: nbf or auth_time is in the future`);
  return exp;
}
