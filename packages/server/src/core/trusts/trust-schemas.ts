/** A trust as members of a record, for the APIs (modern-oauth.md §6). */
import Type, { type Static, type TProperties } from "typebox";
import {
  DEFAULT_LIFETIME_SECONDS,
  LIFETIME_RANGE,
  type Trust,
  type TrustSettings,
  trustKinds,
  trustUserBy,
} from "./trust.ts";

const [minimum, maximum] = LIFETIME_RANGE;
const address = (description: string) => Type.String({ maxLength: 2_048, description });

export const kindSchema = Type.Enum([...trustKinds], {
  description:
    "`workload`: JWTs of its workloads are a client's; `id_jag`: its identity assertions stand for users; `software_statement`: it " +
    "vouches for clients that register. Cannot be changed",
});

/** What may be changed. */
export const trustMembers = {
  clientId: Type.String({
    maxLength: 36,
    description:
      "The client that a workload is; of `id_jag`: the one client that may present its assertions, default: any",
  }),
  issuer: address("`iss` of its JWTs, exactly"),
  jwks: Type.Object(
    { keys: Type.Array(Type.Record(Type.String(), Type.Unknown())) },
    {
      description:
        "Its public keys (RFC 7517). Without `jwks` and `jwksUri` its discovery document names them",
    },
  ),
  jwksUri: address("https: where its public keys are"),
  audience: address("What `aud` is, exactly and alone; default: this issuer"),
  subjectPattern: Type.String({
    maxLength: 1_024,
    description:
      "Which `sub`: `*` is one whole segment between `:` and `/`, and the first three segments are literal, as in " +
      "`repo:acme/site:ref:refs/heads/*`. Required for a workload",
  }),
  claims: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
    description:
      "Claims and what each is, exactly; a list has the value among its members. A name that begins with `/` is a JSON Pointer, as in " +
      "`/kubernetes.io/namespace`",
  }),
  singleUse: Type.Boolean({ description: "Default: true. Each `jti` is accepted once" }),
  maxLifetimeSeconds: Type.Integer({
    ...{ minimum, maximum },
    description: `Of its JWTs; default: ${DEFAULT_LIFETIME_SECONDS}`,
  }),
  connectionId: Type.String({
    maxLength: 36,
    description: "`id_jag`: the connection at which subjects are linked",
  }),
  userBy: Type.Enum([...trustUserBy], {
    description:
      "`id_jag`: `connection`: `sub` is an identity linked at the connection; `permId`: it is our own `sub`. Default: " +
      "`connection` with a `connectionId`",
  }),
  enabled: Type.Boolean({ description: "Default: true" }),
};

const orNull = (members: TProperties) =>
  Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [name, Type.Union([schema, Type.Null()])]),
  );

const { issuer, claims, singleUse, maxLifetimeSeconds, userBy, enabled, audience, ...optional } =
  trustMembers;

/** Of an answer. */
export const trustRecordMembers: TProperties = {
  id: Type.String({ format: "uuid" }),
  kind: kindSchema,
  ...orNull(optional),
  ...{ issuer, audience, claims, singleUse, maxLifetimeSeconds, userBy, enabled },
  createdAt: Type.String({ format: "date-time" }),
};

type Members = typeof trustMembers;
/** As sent; null, or left out of a new record: the default. */
export type SentTrust = { readonly [Name in keyof Members]?: Static<Members[Name]> | null };

const lower = (id: string | null): string | null => id?.toLowerCase() ?? null;

/** The settings that a body says. @param before what is left out stays as it was there; undefined: the default */
export function trustSettings(
  kind: TrustSettings["kind"],
  sent: SentTrust,
  before?: TrustSettings,
): TrustSettings {
  const pick = <Name extends keyof SentTrust & keyof TrustSettings>(
    name: Name,
    unset: TrustSettings[Name],
  ): TrustSettings[Name] => {
    const value = sent[name];
    if (value === undefined && before) return before[name];
    return (value ?? unset) as TrustSettings[Name];
  };
  const connectionId = lower(pick("connectionId", null));
  return {
    kind,
    clientId: lower(pick("clientId", null)),
    issuer: pick("issuer", ""),
    jwks: pick("jwks", null),
    jwksUri: pick("jwksUri", null),
    audience: pick("audience", null),
    subjectPattern: pick("subjectPattern", null),
    claims: pick("claims", {}),
    singleUse: pick("singleUse", true),
    maxLifetimeSeconds: pick("maxLifetimeSeconds", DEFAULT_LIFETIME_SECONDS),
    connectionId,
    userBy: pick("userBy", connectionId === null ? "permId" : "connection"),
    enabled: pick("enabled", true),
  };
}

/** @param own this issuer */
export const trustRecord = (trust: Trust, own: string) => ({
  ...{ id: trust.id, kind: trust.kind, clientId: trust.clientId, issuer: trust.issuer, jwks: trust.jwks },
  ...{ jwksUri: trust.jwksUri, audience: trust.audience ?? own, subjectPattern: trust.subjectPattern },
  ...{ claims: trust.claims, singleUse: trust.singleUse, maxLifetimeSeconds: trust.maxLifetimeSeconds },
  ...{ connectionId: trust.connectionId, userBy: trust.userBy, enabled: trust.enabled },
});
