/** Signing pools as API v1 shows them, and back into their settings. */
import { agentAlgs } from "@signet/protocol/agent-signature";
import Type, { type Static } from "typebox";
import {
  issuerModes,
  type SigningPool,
  signingPoolIssuer,
  signingPoolJwksUri,
} from "../../../core/signing-pools/signing-pool.ts";
import { invalid } from "../../../http/api/api-error.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { wireTime } from "../../../http/api/times.ts";
import { patchSchema } from "../frame/patch-schema.ts";
import { memoryFields } from "../lists/list-fields.ts";
import type { NewPool } from "./signing-deps.ts";

const needed = {
  name: Type.String({ maxLength: 200, description: "1 to 100 characters" }),
  algs: Type.Array(Type.String({ maxLength: 20 }), {
    maxItems: 10,
    description: `Some of ${agentAlgs.join(", ")}`,
  }),
  maxTokenLifetimeSeconds: Type.Integer({ description: "60 to 86400" }),
};
const optional = {
  tokenWaitSeconds: Type.Integer({
    description: "How long the token endpoint waits for an agent: 1 to 20; default: 8",
  }),
  keyPublishDelaySeconds: Type.Integer({
    description: "How long a new key is published before it signs: 0 to 604800; default: 600",
  }),
  maxPending: Type.Integer({ description: "Open requests: 1 to 10000; default: 500" }),
  approvals: Type.Integer({
    description:
      "Agents that approve each signature by a whole key, the one that signs among them: 1 to 9; default: 1",
  }),
  trustedRoots: Type.Array(Type.String({ maxLength: 16_384 }), {
    description: "PEM certificates that the x5c chains of keys must end in; default: none",
  }),
  requireX5c: Type.Boolean({ description: "Whether keys without certificates are refused; default: false" }),
};
const enabled = Type.Boolean({
  description: "Disabled, it signs nothing, and nothing else signs for its applications; default: true",
});
const issuerMode = Type.Enum([...issuerModes], {
  description: "The issuer of the tokens: the pool (default) or the organisation; cannot be changed",
});

const threshold = Type.Object(
  { min: Type.Integer({ minimum: 2, maximum: 9 }), max: Type.Integer({ minimum: 2, maximum: 9 }) },
  {
    additionalProperties: false,
    description:
      "The pool's key exists nowhere: `min` of its `max` agents sign together (RFC 9591); `algs` must be [EdDSA]; cannot be changed",
  },
);

/** Of a fault, where it begins with one. */
export const poolMembers = [...Object.keys(needed), ...Object.keys(optional), "issuerMode", "threshold"];

export const newPool = strictObject(
  {
    ...needed,
    ...Type.Partial(Type.Object({ ...optional, issuerMode, threshold, enabled })).properties,
  },
  { title: "ApiNewSigningPool" },
);

export const poolPatch = patchSchema({ ...needed, ...optional, enabled }, { title: "ApiSigningPoolChange" });

const time = () => Type.String({ format: "date-time" });

export const poolSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    ...needed,
    ...{ issuerMode, issuer: Type.String({ format: "uri" }), jwksUri: Type.String({ format: "uri" }) },
    ...optional,
    threshold: Type.Union([threshold, Type.Null()]),
    enabled,
    createdBy: Type.String({ description: "As the audit log names actors" }),
    ...{ createdAt: time(), updatedAt: time() },
  },
  { title: "ApiSigningPool" },
);

export const poolFields = memoryFields({
  ...({ id: "text", name: "text", issuerMode: "text", issuer: "text", jwksUri: "text" } as const),
  ...({ maxTokenLifetimeSeconds: "number", tokenWaitSeconds: "number", maxPending: "number" } as const),
  ...({ approvals: "number" } as const),
  ...({ keyPublishDelaySeconds: "number", requireX5c: "boolean", enabled: "boolean" } as const),
  ...({ createdBy: "text", createdAt: "time", updatedAt: "time" } as const),
});

export const poolRecord = (baseUrl: string) => (pool: SigningPool) => ({
  ...{ id: pool.id, name: pool.name, algs: pool.algs },
  maxTokenLifetimeSeconds: pool.maxTokenLifetimeSeconds,
  ...{ issuerMode: pool.issuerMode, issuer: signingPoolIssuer(baseUrl, pool) },
  jwksUri: signingPoolJwksUri(baseUrl, pool),
  tokenWaitSeconds: pool.tokenWaitSeconds,
  keyPublishDelaySeconds: pool.keyPublishDelaySeconds,
  ...{ maxPending: pool.maxPending, trustedRoots: pool.trustedRoots, requireX5c: pool.requireX5c },
  ...{ threshold: pool.threshold, approvals: pool.approvals },
  ...{ enabled: pool.disabledAt === null, createdBy: pool.createdBy },
  ...{ createdAt: wireTime(pool.createdAt), updatedAt: wireTime(pool.updatedAt) },
});

/** The settings after a PATCH: null is as a new pool has it. @throws ApiError 422 */
export function patchedPool(before: SigningPool, patch: Static<typeof poolPatch>): NewPool {
  const { enabled: _, ...members } = patch;
  const unset = Object.keys(needed).find((name) => members[name as keyof typeof members] === null);
  if (unset !== undefined) throw invalid([{ path: `/${unset}`, message: "cannot be unset" }]);
  const { name, algs, maxTokenLifetimeSeconds, tokenWaitSeconds, keyPublishDelaySeconds } = before;
  const { maxPending, trustedRoots, requireX5c, approvals } = before;
  const settings = {
    ...{ name, algs, maxTokenLifetimeSeconds, tokenWaitSeconds, keyPublishDelaySeconds },
    ...{ maxPending, trustedRoots, requireX5c, approvals, ...members },
  };
  return Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== null),
  ) as unknown as NewPool;
}
