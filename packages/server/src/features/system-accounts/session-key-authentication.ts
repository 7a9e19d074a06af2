/**
 * Authentication by a session key (wire-contract.md §4): `{key}` in the path, `key` in the query or `Key` in the body. An
 * additional signature of a system account is verified too; an application with `requireSignedKeyCalls` requires it, so that
 * a leaked key alone is useless.
 */

import type { SessionKeyCaller } from "../../core/session-keys/caller.ts";
import { type ValidSessionKey, validateSessionKey } from "../../core/session-keys/session-keys.ts";
import { mayActFor, type SystemAccountCaller } from "../../core/system-accounts/system-account.ts";
import { notAuthenticated } from "../../http/api/api-error.ts";
import type { ApiAuthenticator, ApiRequest } from "../../http/api/api-route.ts";
import { parseJson } from "../../http/api/json-body.ts";
import { parseQuery } from "../../http/form-body.ts";
import {
  authenticateSystemAccount,
  type HmacDeps,
  refuse,
  targetApplicationId,
} from "./hmac-authentication.ts";

export function sessionKeyAuthenticator(deps: HmacDeps): ApiAuthenticator<SessionKeyCaller> {
  return {
    authenticate: async (request, raw) => {
      const isSigned = request.headers.authorization !== undefined;
      const signedBy = isSigned ? await authenticateSystemAccount(deps, request, raw) : undefined;
      const presented = readSessionKey(request, raw);
      const valid = presented === undefined ? "no key" : await validateSessionKey(deps, presented);
      if (typeof valid === "string") throw notAuthenticated(valid);
      if (signedBy) await requirePermission(deps, request, signedBy, valid);
      else if (valid.application.settings.requireSignedKeyCalls)
        throw notAuthenticated("the application requires a signature with its session keys");
      return { ...valid, signedBy, actor: signedBy?.actor ?? `user:${valid.user.id}` };
    },
  };
}

function readSessionKey(request: ApiRequest, raw: Buffer): string | undefined {
  const { key: inPath } = (request.params ?? {}) as { key?: string };
  if (inPath) return inPath;
  const { values, repeated } = parseQuery(request);
  if (repeated.has("key")) return undefined;
  const inQuery = values.get("key");
  if (inQuery !== undefined) return inQuery;
  const body = parseJson(raw);
  if (typeof body !== "object" || body === null || !Object.hasOwn(body, "Key")) return undefined;
  const { Key: inBody } = body as { Key?: unknown };
  return typeof inBody === "string" ? inBody : undefined;
}

/**
 * The account must belong to the key's organisation and have permission on the application that the call names and on the
 * key's own application, unless the key is temporary: those are handed to other applications.
 */
async function requirePermission(
  deps: HmacDeps,
  request: ApiRequest,
  { account }: SystemAccountCaller,
  { key }: ValidSessionKey,
): Promise<void> {
  const target = targetApplicationId(request, undefined);
  const isPermitted =
    account.orgId === key.orgId &&
    (target === undefined || mayActFor(account, target)) &&
    (key.kind === "UserTemp" || mayActFor(account, key.applicationId));
  if (!isPermitted) await refuse(deps, request, account, "no-permission");
}
