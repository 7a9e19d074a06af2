/** What the agent may sign (sovereign-signing.md §9). Nothing is allowed that is not written here. */
import { type Static, Type } from "typebox";
import { parseYaml } from "../yaml-file.ts";

const closed = { additionalProperties: false };

export const grantNames = [
  "authorization_code",
  "refresh_token",
  "client_credentials",
  "device_code",
] as const;
export type GrantName = (typeof grantNames)[number];

export const challengeTypes = ["number_match", "webauthn", "pin", "confirm"] as const;
export type ChallengeType = (typeof challengeTypes)[number];

const word = (description: string) => Type.String({ minLength: 1, maxLength: 500, description });
/** A lone star would be taken for "all", and would be the name of nothing. */
const name = (what: string) =>
  Type.String({
    pattern: "^(?!\\*$)",
    minLength: 1,
    maxLength: 500,
    description: `${what}; there are no wildcards`,
  });
const grant = Type.Enum([...grantNames], { description: `one of ${grantNames.join(", ")}` });
const count = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, description: `a whole number from ${minimum} to ${maximum}` });

const challengeSchema = Type.Object(
  {
    type: Type.Enum([...challengeTypes], { description: `one of ${challengeTypes.join(", ")}` }),
    /** A grant, several, or `always`. */
    when: Type.Union([grant, Type.Literal("always"), Type.Array(grant, { minItems: 1 })], {
      description: `always, or one or a list of ${grantNames.join(", ")}`,
    }),
    prompt: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: "a text of at most 200 characters" }),
    ),
  },
  closed,
);

const clientSchema = Type.Object(
  {
    /** Audiences of access tokens, beside the issuer itself. */
    aud: Type.Array(name("an audience, as a text")),
    scopes: Type.Array(name("a scope, as a text")),
    /** Names of further claims that may stand in either token. */
    claims: Type.Optional(Type.Array(name("the name of a claim"))),
    /** Seconds. */
    maxLifetime: count(1, 604_800),
    grants: Type.Array(grant, { minItems: 1 }),
    challenge: Type.Optional(challengeSchema),
  },
  closed,
);
export type ClientPolicy = Static<typeof clientSchema>;

const policySchema = Type.Object(
  {
    issuer: word("the issuer of the tokens, e.g. https://id.example/oauth/ORG/sovereign/pools/POOL"),
    clients: Type.Record(Type.String(), clientSchema, {
      description: "a map from client_id to what is allowed",
    }),
    limits: Type.Optional(
      Type.Object(
        {
          perSubjectPerMin: Type.Optional(count(1, 1_000_000)),
          perClientPerMin: Type.Optional(count(1, 1_000_000)),
          concurrency: Type.Optional(count(1, 1_000)),
        },
        closed,
      ),
    ),
  },
  closed,
);

export interface Policy {
  readonly issuer: string;
  /** By client_id, in lower case. */
  readonly clients: ReadonlyMap<string, ClientPolicy>;
  readonly limits: Limits;
}

export interface Limits {
  /** Requests of one user in a minute; a client that speaks for itself counts only as a client. */
  readonly perSubjectPerMin: number;
  /** Undefined: no limit. */
  readonly perClientPerMin: number | undefined;
  /** Requests that are checked and signed at once; those that wait for a user's answer do not count. */
  readonly concurrency: number;
}

const usualLimits = { perSubjectPerMin: 10, concurrency: 16 };

/** @param name of the file, for the faults. @throws InvalidFile naming all faults with their lines */
export function parsePolicy(text: string, name = "policy.yaml"): Policy {
  const { issuer, clients, limits = {} } = parseYaml(policySchema, text, name);
  return {
    issuer,
    clients: new Map(Object.entries(clients).map(([id, client]) => [id.toLowerCase(), client])),
    limits: { ...usualLimits, perClientPerMin: undefined, ...limits },
  };
}

const grantUrns: ReadonlyMap<string, string> = new Map([
  ["urn:ietf:params:oauth:grant-type:device_code", "device_code"],
]);

/** The short name of a grant type; undefined for one that no policy can allow. */
export function grantName(grantType: string): GrantName | undefined {
  const short = grantUrns.get(grantType) ?? grantType;
  return grantNames.find((name) => name === short);
}

/** The challenge that the policy wants before it lets tokens of this grant be signed. */
export function challengeWanted({ challenge }: ClientPolicy, grant: GrantName): ClientPolicy["challenge"] {
  if (!challenge) return undefined;
  const { when } = challenge;
  const applies = when === "always" || when === grant || (Array.isArray(when) && when.includes(grant));
  return applies ? challenge : undefined;
}
