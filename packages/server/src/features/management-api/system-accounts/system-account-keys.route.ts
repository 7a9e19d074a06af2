/** Key pairs of a system account: adding one beside the others, and revoking one. */

import { listKeys } from "../../../core/system-accounts/system-accounts.store.ts";
import {
  revokeSystemAccountKey,
  rotateSystemAccountKey,
} from "../../../core/system-accounts/system-accounts.ts";
import { ApiError, notFound } from "../../../http/api/api-error.ts";
import { type Answer, type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { readRotation, rotation, rotationExample } from "../clients/client-secret-record.ts";
import { by, inTransaction, type ManagementDeps } from "../management.ts";
import { lockAccount, toAccountAnswer } from "./locked-account.ts";
import { createdSystemAccountKeySchema, systemAccountKeyRecord } from "./system-account-record.ts";

const shared = { tag: "System accounts", credential: "administrator" } as const;

export function systemAccountKeysRoutes(api: ApiScope, deps: ManagementDeps): void {
  apiRoute(api, {
    ...shared,
    method: "POST",
    path: "/legacy/api/oauth/system-accounts/:id/keys",
    operationId: "addSystemAccountKey",
    summary: "Add a key pair to a system account; its secret key is shown once, existing keys stay active",
    body: rotation,
    bodyOptional: true,
    lenient: { readOnly: [] },
    example: rotationExample,
    answers: { 201: { description: "The new key pair", schema: createdSystemAccountKeySchema } },
    authenticator: deps.authenticator,
    handler: (call) =>
      inTransaction(deps, call.within, async (inside): Promise<Answer> => {
        const settings = readRotation(call.body, deps.clock());
        const { orgId, id } = await lockAccount(inside, call, idOf(call.params));
        const input = { orgId, id, ...settings, ...by(call.caller) };
        const { key, secret } = await rotateSystemAccountKey(inside, input).catch(toAccountAnswer);
        return {
          status: 201,
          headers: { location: `${deps.baseUrl}/legacy/api/oauth/system-accounts/${id}` },
          body: { id, ...systemAccountKeyRecord(key), secretKey: secret },
          shownOnce: ["secretKey"],
        };
      }),
  });
  apiRoute(api, {
    ...shared,
    method: "DELETE",
    path: "/legacy/api/oauth/system-accounts/:id/keys/:keyId",
    operationId: "revokeSystemAccountKey",
    summary: "Revoke one key pair, named by its public key, immediately",
    answers: { 204: { description: "Revoked" } },
    authenticator: deps.authenticator,
    handler: (call) =>
      inTransaction(deps, call.within, async (inside) => {
        const publicKey = idOf(call.params, "keyId");
        const { orgId, id } = await lockAccount(inside, call, idOf(call.params));
        const keys = await listKeys(inside.database.query, orgId, id);
        if (!keys.some((key) => key.publicKey === publicKey)) throw notFound();
        if (publicKey === call.caller.publicKey)
          throw new ApiError(409, "own-key", "The request is signed with this key", {
            detail: "Sign with another key of the account, or with another administrator's account.",
          });
        await revokeSystemAccountKey(inside, { orgId, id, publicKey, ...by(call.caller) });
        return { status: 204 };
      }),
  });
}
