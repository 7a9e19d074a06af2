/** Key pairs of a system account: adding one beside the others, and revoking one. */
import type { SystemAccountKey } from "../../../core/system-accounts/system-account.ts";
import {
  revokeSystemAccountKey,
  rotateSystemAccountKey,
} from "../../../core/system-accounts/system-accounts.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { actOf } from "../access.ts";
import { readRotation, rotation } from "../applications/secret-record.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiResource, createRoute, deleteRoute } from "../frame/resource-routes.ts";
import { lockedAccount, toAccountAnswer } from "./changed-account.ts";
import { createdKey, keyRecord, keySchema } from "./system-account-record.ts";

export function apiSystemAccountKeysRoutes(api: ApiScope, deps: ApiDeps): void {
  const keys: ApiResource<SystemAccountKey> = {
    ...{ api, deps, tag: "API v1: system accounts", one: "key pair", many: "key pairs" },
    reads: ["signet:applications:read"],
    writes: ["signet:applications:write"],
    ...{ schema: keySchema, record: keyRecord, toAnswer: toAccountAnswer },
    ...{ idParameter: "keyId", volatile: ["lastUsedAt"] },
  };
  createRoute(
    keys,
    "/api/v1/organisations/:org/system-accounts/:id/keys",
    {
      operationId: "apiAddSystemAccountKey",
      summary:
        "Add a key pair, its secret key shown once; the others stay active unless they are told to expire",
      ...{ body: rotation, created: createdKey, errors: [403, 404] },
      example: { label: "autumn", expireOthersInSeconds: 86_400 },
    },
    async (inside, call) => {
      const settings = readRotation(call.body, inside.clock());
      const { id } = await lockedAccount(inside, call);
      const wanted = { ...actOf(call.caller), id, ...settings };
      const { key, secret } = await rotateSystemAccountKey(inside, wanted);
      return { row: key, members: { secretKey: secret }, shownOnce: ["secretKey"] };
    },
  );
  deleteRoute(
    keys,
    "/api/v1/organisations/:org/system-accounts/:id/keys/:keyId",
    {
      operationId: "apiRevokeSystemAccountKey",
      summary: "Revoke a key pair, named by its public key, at once",
      ...{ done: "Revoked", errors: [403] },
    },
    async (inside, call) => {
      const account = await lockedAccount(inside, call);
      const key = account.keys.find(({ publicKey }) => publicKey === call.id);
      if (!key) return false;
      await call.check(key);
      const publicKey = key.publicKey;
      await revokeSystemAccountKey(inside, { ...actOf(call.caller), id: account.id, publicKey });
      return true;
    },
  );
}
