/** /api/v1/organisations/{org}/signing-keys: the keys that sign tokens, and their rotation. */
import { type TokenAlg, tokenAlgorithms } from "@signet/protocol/jose/jws";
import Type from "typebox";
import { type KeyTimes, keyState } from "../../../core/signing-keys/signing-key.ts";
import { listSigningKeys } from "../../../core/signing-keys/signing-keys.store.ts";
import { rotateKey } from "../../../core/signing-keys/signing-keys.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { strictObject, timeOrNull } from "../../../http/api/schemas.ts";
import { wireTime, wireTimeOrNull } from "../../../http/api/times.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiResource, createRoute, getRoute, listRoute } from "../frame/resource-routes.ts";
import { memoryFields } from "../lists/list-fields.ts";
import { memoryPage } from "../lists/memory-list.ts";

const algorithms = Object.keys(tokenAlgorithms) as TokenAlg[];

const keySchema = Type.Object(
  {
    id: Type.String({ description: "The `kid` of tokens and of the JWKS" }),
    kid: Type.String(),
    alg: Type.Enum(algorithms),
    state: Type.Enum(["next", "active", "retiring", "retired"]),
    activeFrom: Type.String({ format: "date-time" }),
    retireAt: timeOrNull,
    createdAt: Type.String({ format: "date-time" }),
    updatedAt: Type.String({ format: "date-time" }),
  },
  { title: "ApiSigningKey" },
);

const rotation = strictObject({
  alg: Type.Enum(algorithms),
  compromised: Type.Optional(
    Type.Boolean({ description: "The old key leaves the JWKS at once, and its tokens are refused" }),
  ),
});

const fields = memoryFields({
  ...({ id: "text", kid: "text", alg: "text", state: "text" } as const),
  ...({ activeFrom: "time", retireAt: "time", createdAt: "time", updatedAt: "time" } as const),
});

interface ShownKey extends KeyTimes {
  readonly state: string;
}

const keyRecord = ({ kid, alg, state, activeFrom, retireAt, createdAt }: ShownKey) => ({
  ...{ id: kid, kid, alg, state },
  activeFrom: wireTime(activeFrom),
  retireAt: wireTimeOrNull(retireAt),
  createdAt: wireTime(createdAt),
  updatedAt: wireTime(createdAt),
});

async function shownKeys({ database, clock }: ApiDeps, orgId: string): Promise<ShownKey[]> {
  const keys = await listSigningKeys(database.query, orgId);
  return keys.map((key) => ({ ...key, state: keyState(key, keys, clock()) }));
}

interface KeyDeps extends ApiDeps {
  readonly config: { readonly keyRotationDays: number };
}

export function apiSigningKeysRoutes(api: ApiScope, deps: KeyDeps): void {
  const keys: ApiResource<ShownKey, KeyDeps> = {
    ...{ api, deps, tag: "API v1: organisation", one: "signing key", many: "signing keys" },
    reads: ["signet:organisation:read"],
    writes: ["signet:organisation:write"],
    schema: keySchema,
    record: keyRecord,
    ...{ idParameter: "kid", volatile: ["state"] },
  };
  listRoute(
    keys,
    "/api/v1/organisations/:org/signing-keys",
    { operationId: "apiListSigningKeys", summary: "List the keys that sign tokens", fields },
    async ({ orgId, list }) => memoryPage(list, await shownKeys(deps, orgId), { fields, record: keyRecord }),
  );
  getRoute(
    keys,
    "/api/v1/organisations/:org/signing-keys/:kid",
    { operationId: "apiReadSigningKey", summary: "Get a key that signs tokens" },
    async ({ orgId, id }) => (await shownKeys(deps, orgId)).find(({ kid }) => kid === id),
  );
  createRoute(
    keys,
    "/api/v1/organisations/:org/signing-keys",
    {
      operationId: "apiRotateSigningKey",
      summary: "Publish a new key, which signs once caches of the JWKS have expired",
      body: rotation,
      example: { alg: "ES256" },
    },
    async (inside, { caller, orgId, body: { alg, compromised = false } }) => {
      const { orgId: _, ...by } = actOf(caller);
      const rotating = { ...inside, rotationDays: inside.config.keyRotationDays };
      const { kid } = await rotateKey(rotating, orgId, alg, { ...by, compromised });
      const row = (await shownKeys(inside, orgId)).find((key) => key.kid === kid);
      if (!row) throw new Error("the new key is not listed");
      return { row };
    },
  );
}
