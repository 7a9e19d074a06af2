/** What the agent may sign (sovereign-signing.md §9). Anything not listed is refused. */
import { type Static, Type } from "typebox";
import { closedObject, parseYaml } from "../configuration/yaml-file.ts";

export const grantNames = [
  "authorization_code",
  "refresh_token",
  "client_credentials",
  "device_code",
  "ciba",
  "token_exchange",
  "jwt_bearer",
] as const;
export type GrantName = (typeof grantNames)[number];

/** What agents sign beside tokens (modern-oauth.md §7). */
export const messageUses = [
  "authorization_response",
  "id_jag",
  "introspection_response",
  "userinfo_response",
] as const;

const challengeTypes = ["number_match", "webauthn", "pin", "confirm"] as const;

const bounded = { minLength: 1, maxLength: 500 };
/** A lone star looks like "all", and would match nothing. */
const name = (what: string) =>
  Type.String({ ...bounded, pattern: "^(?!\\*$)", description: `${what}; there are no wildcards` });
const grant = Type.Enum([...grantNames], { description: `one of ${grantNames.join(", ")}` });
const integer = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, description: `a whole number from ${minimum} to ${maximum}` });

const challengeSchema = closedObject({
  type: Type.Enum([...challengeTypes], { description: `one of ${challengeTypes.join(", ")}` }),
  when: Type.Union([grant, Type.Literal("always"), Type.Array(grant, { minItems: 1 })], {
    description: `always, or one or more of ${grantNames.join(", ")}`,
  }),
  prompt: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: "1 to 200 characters of text" }),
  ),
});

/** Each list names what is enough; the connection itself is always one of `ids`. */
const connectionSchema = closedObject({
  ids: Type.Array(name("the id of a connection"), { minItems: 1 }),
  acr: Type.Optional(Type.Array(name("an acr"), { minItems: 1 })),
  amr: Type.Optional(Type.Array(name("an amr"), { minItems: 1 })),
});

/** Identity assertions for other authorization servers; nothing is allowed that is not named. */
const idJagSchema = closedObject({
  /** Their issuers. */
  aud: Type.Array(name("an issuer"), { minItems: 1 }),
  scopes: Type.Array(name("a scope"), { minItems: 1 }),
  /** As the client is known there, where not by its own client_id. */
  clientIds: Type.Optional(Type.Array(name("a client_id"))),
  resources: Type.Optional(Type.Array(name("a resource"))),
});

const clientSchema = closedObject({
  /** Of access tokens, in addition to the issuer itself. */
  aud: Type.Array(name("an audience")),
  scopes: Type.Array(name("a scope")),
  /** Further claims allowed in either token. */
  claims: Type.Optional(Type.Array(name("the name of a claim"))),
  /** Seconds. */
  maxLifetime: integer(1, 604_800),
  /** None for a client that gets messages only. */
  grants: Type.Array(grant),
  /** What else is signed for it; nothing when left out. */
  messages: Type.Optional(
    Type.Array(Type.Enum([...messageUses], { description: `one of ${messageUses.join(", ")}` })),
  ),
  idJag: Type.Optional(idJagSchema),
  challenge: Type.Optional(challengeSchema),
  /** The organisation's identity provider that users must have signed in by. */
  connection: Type.Optional(connectionSchema),
  /** What access tokens must be bound to: a key (DPoP), a certificate, or either. */
  binding: Type.Optional(
    Type.Enum(["dpop", "mtls", "any"], {
      description: "dpop, mtls or any: what access tokens must be bound to",
    }),
  ),
  /** Types of authorization details (RFC 9396) that tokens may have; none when left out. */
  authorizationDetails: Type.Optional(Type.Array(name("a type of authorization details"))),
  /** The resources (RFC 8707) that may be asked for; at least one of them must be. */
  resources: Type.Optional(Type.Array(name("a resource"), { minItems: 1 })),
  /** The clients that may act for users (RFC 8693); none when left out. */
  actors: Type.Optional(Type.Array(name("the client_id of an actor"))),
});
export type ClientPolicy = Static<typeof clientSchema>;

const policySchema = closedObject({
  issuer: Type.String({
    ...bounded,
    description: "the pool's issuer, e.g. https://id.example/oauth/ORG/sovereign/pools/POOL",
  }),
  clients: Type.Record(Type.String(), clientSchema, {
    description: "a map from client_id to what it may get",
  }),
  limits: Type.Optional(
    closedObject({
      /** Per user; client_credentials requests count for the client only. */
      perSubjectPerMin: Type.Optional(integer(1, 1_000_000)),
      /** By default unlimited. */
      perClientPerMin: Type.Optional(integer(1, 1_000_000)),
      /** Requests checked and signed at the same time; those waiting for a user do not count. */
      concurrency: Type.Optional(integer(1, 1_000)),
    }),
  ),
});

export type Policy = ReturnType<typeof parsePolicy>;

/** @param file for the error message. @throws InvalidFile */
export function parsePolicy(text: string, file = "policy.yaml") {
  const { issuer, clients, limits = {} } = parseYaml(policySchema, text, file);
  const { perSubjectPerMin = 10, perClientPerMin, concurrency = 16 } = limits;
  return {
    issuer,
    /** By client_id, in lower case. */
    clients: new Map(Object.entries(clients).map(([id, client]) => [id.toLowerCase(), client])),
    limits: { perSubjectPerMin, concurrency, perClientPerMin },
  };
}

const URN = /^urn:(?:ietf:params:oauth|openid:params):grant-type:/;

/** The policy's name of a grant type; undefined for one that no policy can allow. */
export function grantName(grantType: string): GrantName | undefined {
  const short = grantType.replace(URN, "").replace("-", "_");
  return grantNames.find((name) => name === short);
}

/** The challenge that a user must pass before tokens of this grant are signed. */
export function requiredChallenge({ challenge }: ClientPolicy, grant: GrantName): ClientPolicy["challenge"] {
  if (!challenge) return undefined;
  const { when } = challenge;
  const applies = when === "always" || when === grant || (Array.isArray(when) && when.includes(grant));
  return applies ? challenge : undefined;
}
