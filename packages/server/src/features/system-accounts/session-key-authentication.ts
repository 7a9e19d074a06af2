/**
 * For calls whose credential is a session key (wire-contract.md §4): in the path as `{key}`, in the query as `key`, or in
 * the body as `Key`. A system account's signature may come along and is then checked like any other; an application
 * with `requireSignedKeyCalls` demands it, so that a key that leaked opens nothing by itself.
 */
import type { FastifyRequest } from "fastify";
import type { SessionKeyCaller } from "../../core/session-keys/caller.ts";
import { type ValidSessionKey, validateSessionKey } from "../../core/session-keys/session-keys.ts";
import type { SystemAccountCaller } from "../../core/system-accounts/caller.ts";
import { mayActFor } from "../../core/system-accounts/system-account.ts";
import { notAuthenticated } from "../../http/api/api-error.ts";
import type { ApiDoor } from "../../http/api/api-route.ts";
import { parseJson } from "../../http/api/json-body.ts";
import { queryOf } from "../../http/form-body.ts";
import { authenticateSystemAccount, type HmacDeps, refuse, targetOf } from "./hmac-authentication.ts";

export function sessionKeyDoor(deps: HmacDeps): ApiDoor<SessionKeyCaller> {
  return {
    authenticate: async (request, raw) => {
      const isSigned = request.headers.authorization !== undefined;
      const signedBy = isSigned ? await authenticateSystemAccount(deps, request, raw) : undefined;
      const presented = presentedKey(request, raw);
      const valid = presented === undefined ? "no key" : await validateSessionKey(deps, presented);
      if (typeof valid === "string") throw notAuthenticated(valid);
      if (signedBy) await requirePermission(deps, request, signedBy, valid);
      else if (valid.application.settings.requireSignedKeyCalls)
        throw notAuthenticated("the application demands a signature with its session keys");
      return { ...valid, signedBy, actor: signedBy?.actor ?? `user:${valid.user.id}` };
    },
  };
}

function presentedKey(request: FastifyRequest, raw: Buffer): string | undefined {
  const { key: inPath } = (request.params ?? {}) as { key?: string };
  if (inPath) return inPath;
  const { values, repeated } = queryOf(request);
  if (repeated.has("key")) return undefined;
  const inQuery = values.get("key");
  if (inQuery !== undefined) return inQuery;
  const body = parseJson(raw);
  if (typeof body !== "object" || body === null || !Object.hasOwn(body, "Key")) return undefined;
  const { Key: inBody } = body as { Key?: unknown };
  return typeof inBody === "string" ? inBody : undefined;
}

/**
 * The account must be of the key's organisation, and act for the application that the call names as well as for the
 * key's own. A temporary key is made to be handed to another application: whoever has it may look at it.
 */
async function requirePermission(
  deps: HmacDeps,
  request: FastifyRequest,
  { account }: SystemAccountCaller,
  { key }: ValidSessionKey,
): Promise<void> {
  const isAllowed = (applicationId: string) => account.isAdministrator || mayActFor(account, applicationId);
  const target = targetOf(request, undefined);
  const isPermitted =
    account.orgId === key.orgId &&
    (target === undefined || isAllowed(target)) &&
    (key.kind === "UserTemp" || isAllowed(key.applicationId));
  if (!isPermitted) await refuse(deps, request, account, "no-permission");
}
