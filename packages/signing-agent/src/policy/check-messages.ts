/**
 * The checks of messages that are no tokens (modern-oauth.md §7): each has exactly the members of its kind, so that none can be taken for
 * a token or for another kind, and is for whom the policy allows it.
 */
import { isSubset, parseScope } from "@signet/protocol/oauth/scope";
import { quoted, Refusal } from "../agent/refusal.ts";
import type { AgentKey } from "../keys/key-source.ts";
import type { RequestContext } from "../service/signing-service.ts";
import { isJsonObject, type JsonObject } from "../strict-json.ts";
import { checkHeader, checkIssuedNow, checkTimes } from "./check-header.ts";
import {
  audiences,
  type DecodedToken,
  type MessageUse,
  optionalTextClaim,
  optionalTextList,
  requireEqual,
  textClaim,
} from "./decode-token.ts";
import { type ClientPolicy, grantName, type Policy } from "./policy.ts";

export interface MessageRules {
  readonly policy: Policy;
  readonly keys: readonly AgentKey[];
  /** Milliseconds. */
  readonly now: number;
  readonly context: RequestContext;
}

export type CheckedMessage = ReturnType<typeof checkMessage>;

/** Seconds. */
const MAX_RESPONSE_LIFETIME = 600;
const MAX_ID_JAG_LIFETIME = 300;

/** The header's `typ`. */
export const messageTypes: Readonly<Record<MessageUse, string>> = {
  authorization_response: "JWT",
  id_jag: "oauth-id-jag+jwt",
  introspection_response: "token-introspection+jwt",
  userinfo_response: "JWT",
};

/**
 * @param tokensOf the client whose tokens are signed with the message; undefined for a message alone
 * @throws Refusal
 */
export function checkMessage(message: DecodedToken, rules: MessageRules, tokensOf: string | undefined) {
  const { policy, keys, context } = rules;
  const use = message.use as MessageUse;
  const key = checkHeader(message, messageTypes[use], keys);
  requireEqual(message, "iss", textClaim(message, "iss"), policy.issuer);
  requireEqual(message, "iss", context.issuer, policy.issuer);
  const [aud = "", ...more] = audiences(message);
  if (more.length > 0 || typeof message.claims["aud"] !== "string")
    throw new Refusal("aud", `${use}: aud is not one recipient`);
  // An identity assertion is for another server; everything else is for the client itself.
  const clientId = use === "id_jag" ? context.clientId : aud;
  if (context.clientId !== clientId)
    throw new Refusal("aud", `${use}: audience ${quoted(aud)} is not the client of the request`);
  if (tokensOf !== undefined && (tokensOf !== clientId || use !== "authorization_response"))
    throw new Refusal("tokens", `${use} does not belong to the tokens`);
  const client = policy.clients.get(clientId);
  if (!client) throw new Refusal("client", `client ${quoted(clientId)} is not in the policy`);
  if (!client.messages?.includes(use))
    throw new Refusal("message", `${use} is not allowed for client ${quoted(clientId)}`);
  const checked = checks[use](message, { ...rules, client, clientId, withTokens: tokensOf !== undefined });
  return { ...message, key, aud: [aud], clientId, client, ...checked };
}

interface KindRules extends MessageRules {
  readonly client: ClientPolicy;
  readonly clientId: string;
  readonly withTokens: boolean;
}

interface Kind {
  /** The user that it tells of. */
  readonly sub: string | undefined;
  /** Seconds since the epoch. */
  readonly exp: number | undefined;
  readonly jti: string | undefined;
  readonly scopes: readonly string[];
}

const nothing: Kind = { sub: undefined, exp: undefined, jti: undefined, scopes: [] };

const checks: Readonly<Record<MessageUse, (message: DecodedToken, rules: KindRules) => Kind>> = {
  authorization_response: checkAuthorizationResponse,
  id_jag: checkIdJag,
  introspection_response: checkIntrospection,
  userinfo_response: checkUserinfo,
};

function requireMembers(message: DecodedToken, known: readonly string[]): void {
  const unexpected = Object.keys(message.claims).find((name) => !known.includes(name));
  if (unexpected !== undefined)
    throw new Refusal("claims", `${message.use}: claim ${quoted(unexpected)} is not allowed`);
}

const successMembers = "iss aud iat exp state code".split(" ");
const errorMembers = "iss aud iat exp state error error_description".split(" ");
/** The service takes no longer one. */
const MAX_STATE = 4_096;

/** A code comes with its tokens, an error without (JARM §2.1, §2.2). Without `sub` it is no ID token. */
function checkAuthorizationResponse(message: DecodedToken, rules: KindRules): Kind {
  const { client, context, withTokens, now } = rules;
  const grant = grantName(context.grantType);
  if (grant !== "authorization_code" || !client.grants.includes(grant))
    throw new Refusal("grant", `grant ${quoted(context.grantType)} is not allowed for this client`);
  requireMembers(message, withTokens ? successMembers : errorMembers);
  const { state, error } = message.claims;
  if (state !== undefined && (typeof state !== "string" || state.length > MAX_STATE))
    throw new Refusal("state", "authorization_response: state is not a short text");
  if (withTokens) textClaim(message, "code");
  else if (typeof error !== "string" || !/^[a-z_]{1,100}$/.test(error))
    throw new Refusal("error", "authorization_response: error is not an error code");
  optionalTextClaim(message, "error_description");
  return { ...nothing, exp: checkTimes(message, { now, maxLifetime: MAX_RESPONSE_LIFETIME }) };
}

const idJagMembers = "iss sub aud client_id jti iat exp scope resource auth_time acr amr".split(" ");

/** draft-ietf-oauth-identity-assertion-authz-grant: whoever it is for lets the client act for the user. */
function checkIdJag(message: DecodedToken, { client, clientId, context, policy, now }: KindRules): Kind {
  requireMembers(message, idJagMembers);
  const { aud = [], scopes: allowed = [], clientIds = [], resources = [] } = client.idJag ?? {};
  const target = textClaim(message, "aud");
  if (!aud.includes(target) || target === policy.issuer)
    throw new Refusal("aud", `id_jag: audience ${quoted(target)} is not allowed for this client`);
  const known = textClaim(message, "client_id");
  if (known !== clientId && !clientIds.includes(known))
    throw new Refusal("client_id", `id_jag: the client is not known as ${quoted(known)}`);
  const sub = textClaim(message, "sub");
  requireEqual(message, "sub", context.sub, sub);
  if (sub === clientId) throw new Refusal("sub", "id_jag: the subject is no user");
  const jti = textClaim(message, "jti");
  const scopes = parseScope(textClaim(message, "scope")) ?? [];
  const unexpected = scopes.find((one) => !allowed.includes(one));
  if (scopes.length === 0 || unexpected !== undefined)
    throw new Refusal(
      "scope",
      `id_jag: scope ${quoted(unexpected ?? "none")} is not allowed for this client`,
    );
  if (!isSubset(scopes, context.scope) || !isSubset(context.scope, scopes))
    throw new Refusal("scope", "id_jag: the scopes of the request differ from its own");
  const named = [message.claims["resource"] ?? []].flat() as readonly unknown[];
  if (!named.every((one) => typeof one === "string" && resources.includes(one)))
    throw new Refusal("resources", "id_jag: a resource is not allowed for this client");
  optionalTextClaim(message, "acr");
  optionalTextList(message, "amr");
  return { sub, exp: checkTimes(message, { now, maxLifetime: MAX_ID_JAG_LIFETIME }), jti, scopes };
}

const introspectionMembers = "iss aud iat token_introspection".split(" ");
/** RFC 7662 §2.2, and what access tokens have; anything else is a claim that the policy names. */
const describedMembers =
  "active iss sub aud exp iat nbf jti client_id org_id scope auth_time amr acr device_id device_attestation cnf authorization_details act exchanged_from workload token_type username".split(
    " ",
  );

/** RFC 9701 §5: everything about the token is inside, so that the answer is none (§8.1: neither `sub` nor `exp` of its own). */
function checkIntrospection(message: DecodedToken, { client, now }: KindRules): Kind {
  requireMembers(message, introspectionMembers);
  checkIssuedNow(message, now);
  const described = message.claims["token_introspection"];
  if (!isJsonObject(described) || typeof described["active"] !== "boolean")
    throw new Refusal("token_introspection", "introspection_response: token_introspection has no active");
  requireDescribed(described, [...describedMembers, ...(client.claims ?? [])]);
  return nothing;
}

function requireDescribed(described: JsonObject, known: readonly string[]): void {
  const names = Object.keys(described);
  if (described["active"] === false && names.length > 1)
    throw new Refusal("token_introspection", "introspection_response: an inactive token is described");
  const unexpected = names.find((name) => !known.includes(name));
  if (unexpected !== undefined)
    throw new Refusal(
      "claims",
      `introspection_response: claim ${quoted(unexpected)} of the token is not allowed for this client`,
    );
}

/** Members of tokens: with one of them a userinfo response could be taken for an ID token or an access token. */
const tokenMembers =
  "exp nbf jti client_id org_id scope azp nonce auth_time amr acr sid cnf act at_hash c_hash s_hash events token_introspection".split(
    " ",
  );

/** OpenID Connect Core §5.3.2. Without `exp` it is no ID token (§2). */
function checkUserinfo(message: DecodedToken, { client, clientId, context, now }: KindRules): Kind {
  const claims = (client.claims ?? []).filter((name) => !tokenMembers.includes(name));
  requireMembers(message, ["iss", "aud", "iat", "sub", ...claims]);
  checkIssuedNow(message, now);
  const sub = textClaim(message, "sub");
  requireEqual(message, "sub", context.sub, sub);
  if (sub === clientId) throw new Refusal("sub", "userinfo_response: the subject is no user");
  return { ...nothing, sub };
}
