/** The keys of a system account: another pair beside those that work, and the end of one. */
import { listKeys } from "../../../core/system-accounts/system-accounts.store.ts";
import {
  revokeSystemAccountKey,
  rotateSystemAccountKey,
} from "../../../core/system-accounts/system-accounts.ts";
import { ApiError, notFound } from "../../../http/api/api-error.ts";
import { type Answer, type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { readRotation, rotation, rotationExample } from "../clients/rotation.ts";
import { acting, by, idOf, locationOf, type ManagementDeps } from "../management.ts";
import { accountToChange, toAccountAnswer } from "./held-account.ts";
import { createdSystemAccountKeySchema, systemAccountKeyRecord } from "./system-account-record.ts";

const PATH = "/legacy/api/oauth/system-accounts/:id/keys";
const shared = { tag: "System accounts", credential: "administrator", isStrictOnly: true } as const;

export function systemAccountKeysRoutes(api: ApiScope, deps: ManagementDeps): void {
  addRoute(api, deps);
  revokeRoute(api, deps);
}

function addRoute(api: ApiScope, deps: ManagementDeps): void {
  apiRoute(
    api,
    deps.strictDoor,
    {
      ...shared,
      method: "POST",
      path: PATH,
      operationId: "addSystemAccountKey",
      summary:
        "Give a system account another pair of keys, whose secret key is shown once; the old ones work on",
      body: rotation,
      bodyOptional: true,
      lenient: { readOnly: [] },
      example: rotationExample,
      answers: { 201: { description: "The new pair of keys", schema: createdSystemAccountKeySchema } },
    },
    (call) =>
      acting(deps, call.within, async (inside): Promise<Answer> => {
        const wanted = readRotation(call.body, deps.clock());
        const { orgId, id } = await accountToChange(inside, call, idOf(call.params));
        const rotated = { orgId, id, ...wanted, ...by(call.caller) };
        const { key, secret } = await rotateSystemAccountKey(inside, rotated).catch(toAccountAnswer);
        return {
          status: 201,
          headers: { location: locationOf(deps, `system-accounts/${id}`) },
          body: { id, ...systemAccountKeyRecord(key), secretKey: secret },
          shownOnce: ["secretKey"],
        };
      }),
  );
}

function revokeRoute(api: ApiScope, deps: ManagementDeps): void {
  apiRoute(
    api,
    deps.strictDoor,
    {
      ...shared,
      method: "DELETE",
      path: `${PATH}/:keyId`,
      operationId: "revokeSystemAccountKey",
      summary: "End one pair of keys, named by its public key, at once; the account's others are left alone",
      answers: { 204: { description: "It is revoked" } },
    },
    (call) =>
      acting(deps, call.within, async (inside) => {
        const publicKey = idOf(call.params, "keyId");
        const { orgId, id } = await accountToChange(inside, call, idOf(call.params));
        const keys = await listKeys(inside.database.query, orgId, id);
        if (!keys.some((key) => key.publicKey === publicKey)) throw notFound();
        if (publicKey === call.caller.publicKey)
          throw new ApiError(409, "own-key", "The call is signed with this key", {
            detail: "Sign with another key of the account, or with another administrator's account.",
          });
        await revokeSystemAccountKey(inside, { orgId, id, publicKey, ...by(call.caller) });
        return { status: 204 };
      }),
  );
}
