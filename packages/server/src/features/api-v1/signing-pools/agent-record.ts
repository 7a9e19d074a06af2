/** Signing agents and their keys as API v1 shows them. */
import Type from "typebox";
import { type AgentKey, agentKeyState, type SigningAgent } from "../../../core/signing-pools/agent-key.ts";
import { strictObject, timeOrNull } from "../../../http/api/schemas.ts";
import { wireTime, wireTimeOrNull } from "../../../http/api/times.ts";

const uuid = (description?: string) => Type.String({ format: "uuid", ...(description && { description }) });
const time = () => Type.String({ format: "date-time" });

/** A key as whoever holds it presents it. */
export const presentedKey = strictObject(
  {
    jwk: Type.Record(Type.String(), Type.Unknown(), { description: "Public members only (RFC 7517)" }),
    x5c: Type.Optional(
      Type.Array(Type.String(), { maxItems: 4, description: "Base64 DER, the leaf certificate first" }),
    ),
    pop: Type.String({
      description:
        "Proof of possession: a JWS by the key with `typ` sovereign-pop+jwt over `aud` (the pool's URL), `jkt` (the key's RFC 7638 thumbprint) and `iat` (at most 300 seconds old)",
    }),
  },
  { title: "ApiNewSigningAgentKey" },
);

/** Per agent, unretired ones. */
const MAX_KEYS = 16;

export const newAgent = strictObject(
  {
    poolId: uuid("Its pool; cannot be changed"),
    name: Type.String({ maxLength: 200, description: "1 to 100 characters" }),
    keys: Type.Array(strictObject(presentedKey.properties), { minItems: 1, maxItems: MAX_KEYS }),
  },
  { title: "ApiNewSigningAgent" },
);

const keyStates = ["published", "active", "retiring", "retired", "compromised"] as const;

export const agentKeySchema = Type.Object(
  {
    id: Type.String({ description: "The `kid`: the key's RFC 7638 thumbprint" }),
    alg: Type.String(),
    state: Type.Enum([...keyStates]),
    jwk: Type.Record(Type.String(), Type.Unknown(), { description: "Its public members" }),
    x5c: Type.Array(Type.String()),
    ...{ activeFrom: time(), retiringAt: timeOrNull, compromisedAt: timeOrNull, createdAt: time() },
  },
  { title: "ApiSigningAgentKey" },
);

export const agentStates = ["active", "deactivated", "compromised"] as const;

export const agentSchema = Type.Object(
  {
    id: uuid(),
    ...{ poolId: uuid(), name: Type.String(), state: Type.Enum([...agentStates]) },
    keys: Type.Array(agentKeySchema),
    lastSeenAt: timeOrNull,
    ...{ deactivatedAt: timeOrNull, compromisedAt: timeOrNull },
    createdBy: Type.String({ description: "As the audit log names actors" }),
    ...{ createdAt: time(), updatedAt: time() },
  },
  { title: "ApiSigningAgent" },
);

/** The only answer with the API key. */
export const createdAgent = Type.Object(
  {
    ...agentSchema.properties,
    apiKey: Type.Union([Type.String(), Type.Null()], { description: "Null when the answer is repeated" }),
  },
  { title: "ApiCreatedSigningAgent" },
);

export type KeyedAgent = SigningAgent & { readonly keys: readonly AgentKey[] };

export const agentKeyRecord = (key: AgentKey, now: number) => ({
  ...{ id: key.kid, alg: key.alg, state: agentKeyState(key, now), jwk: key.publicJwk, x5c: key.x5c },
  ...{ activeFrom: wireTime(key.activeFrom), retiringAt: wireTimeOrNull(key.retiringAt) },
  compromisedAt: wireTimeOrNull(key.compromisedAt),
  createdAt: wireTime(key.createdAt),
});

function agentState({ deactivatedAt, compromisedAt }: SigningAgent): (typeof agentStates)[number] {
  if (compromisedAt !== null) return "compromised";
  return deactivatedAt === null ? "active" : "deactivated";
}

/** When it was registered, or its latest key, or when it ended. */
const updatedAt = ({ createdAt, deactivatedAt, compromisedAt, keys }: KeyedAgent): number =>
  Math.max(createdAt, deactivatedAt ?? 0, compromisedAt ?? 0, ...keys.map((key) => key.createdAt));

export const agentRecord = (agent: KeyedAgent, now: number) => ({
  ...{ id: agent.id, poolId: agent.poolId, name: agent.name, state: agentState(agent) },
  keys: agent.keys.map((key) => agentKeyRecord(key, now)),
  lastSeenAt: wireTimeOrNull(agent.lastSeenAt),
  deactivatedAt: wireTimeOrNull(agent.deactivatedAt),
  compromisedAt: wireTimeOrNull(agent.compromisedAt),
  createdBy: agent.createdBy,
  createdAt: wireTime(agent.createdAt),
  updatedAt: wireTime(updatedAt(agent)),
});
