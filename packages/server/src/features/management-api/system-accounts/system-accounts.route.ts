/**
 * The system accounts of the organisation: listed, read, made, changed, deleted. Changes are signed in the strict form:
 * the other one covers the body alone, and could be sent again to make the sender an administrator's account.
 */

import type { SystemAccount } from "../../../core/system-accounts/system-account.ts";
import {
  findSystemAccount,
  listKeys,
  listKeysOf,
  listSystemAccounts,
} from "../../../core/system-accounts/system-accounts.store.ts";
import {
  changeSystemAccount,
  createSystemAccount,
  removeSystemAccount,
} from "../../../core/system-accounts/system-accounts.ts";
import { invalid, notFound } from "../../../http/api/api-error.ts";
import { type Answer, type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { etagOf } from "../../../http/api/concurrency.ts";
import { pageOf, pageSchema, readPage } from "../../../http/api/paging.ts";
import {
  acting,
  by,
  idOf,
  locationOf,
  type ManagementDeps,
  pageQuerySchema,
  versioned,
} from "../management.ts";
import { accountToChange, holdCaller, requireOtherAccount, toAccountAnswer } from "./held-account.ts";
import {
  changedSystemAccountSchema,
  createdSystemAccountSchema,
  newSystemAccountSchema,
  readOnlyMembers,
  systemAccountRecord,
  systemAccountSchema,
} from "./system-account-record.ts";

const PATH = "/legacy/api/oauth/system-accounts";
const shared = { tag: "System accounts", credential: "administrator" } as const;
const strict = { ...shared, isStrictOnly: true } as const;

export function systemAccountsRoutes(api: ApiScope, deps: ManagementDeps): void {
  readRoutes(api, deps);
  createRoute(api, deps);
  replaceRoute(api, deps);
  deleteRoute(api, deps);
}

function readRoutes(api: ApiScope, { database, door }: ManagementDeps): void {
  apiRoute(
    api,
    door,
    {
      ...shared,
      method: "GET",
      path: PATH,
      operationId: "listSystemAccounts",
      summary: "The organisation's system accounts, oldest first",
      query: pageQuerySchema,
      answers: { 200: { description: "A page of system accounts", schema: pageSchema(systemAccountSchema) } },
    },
    async ({ caller, query }) => {
      const page = readPage(query);
      const { id: orgId } = caller.organisation;
      const { limit, after } = page;
      const rows = await listSystemAccounts(database.query, orgId, { limit, after });
      const { items, nextCursor } = pageOf(rows, page);
      const ids = items.map(({ id }) => id);
      const keys = await listKeysOf(database.query, orgId, ids);
      const records = items.map((account) => systemAccountRecord(account, keys.get(account.id) ?? []));
      return { status: 200, body: { items: records, nextCursor } };
    },
  );
  apiRoute(
    api,
    door,
    {
      ...shared,
      method: "GET",
      path: `${PATH}/:id`,
      operationId: "getSystemAccount",
      summary: "One system account with its keys, never a secret key",
      answers: { 200: { description: "The system account", schema: systemAccountSchema } },
    },
    async ({ caller, params }) => {
      const account = await findSystemAccount(database.query, caller.organisation.id, idOf(params));
      if (!account) throw notFound();
      const keys = await listKeys(database.query, account.orgId, account.id);
      return versioned(systemAccountRecord(account, keys), account.version);
    },
  );
}

function createRoute(api: ApiScope, deps: ManagementDeps): void {
  apiRoute(
    api,
    deps.strictDoor,
    {
      ...strict,
      method: "POST",
      path: PATH,
      operationId: "createSystemAccount",
      errors: [404],
      summary: "Make a system account with its first pair of keys, whose secret key is shown once",
      body: newSystemAccountSchema,
      lenient: { readOnly: [] },
      example: { name: "Order import", applicationId: "01998d70-0000-7000-8000-000000000000" },
      answers: { 201: { description: "The system account", schema: createdSystemAccountSchema } },
    },
    ({ caller, body, within }) =>
      acting(deps, within, async (inside): Promise<Answer> => {
        await holdCaller(inside, caller);
        const { account, key, secret } = await createSystemAccount(inside, {
          orgId: caller.organisation.id,
          applicationId: body.applicationId.toLowerCase(),
          name: body.name,
          isAdministrator: body.administrator ?? false,
          requiresStrictSignature: body.requireStrictSignature ?? false,
          ...by(caller),
        }).catch(toAccountAnswer);
        const record = systemAccountRecord(account, [key]);
        return {
          status: 201,
          headers: {
            location: locationOf(deps, `system-accounts/${account.id}`),
            etag: etagOf(account.version),
          },
          body: { ...record, publicKey: key.publicKey, secretKey: secret },
          shownOnce: ["secretKey"],
        };
      }),
  );
}

function replaceRoute(api: ApiScope, deps: ManagementDeps): void {
  apiRoute(
    api,
    deps.strictDoor,
    {
      ...strict,
      method: "PUT",
      path: `${PATH}/:id`,
      operationId: "replaceSystemAccount",
      summary: "Change a system account's name, the form of its signatures, and whether it is let in",
      body: changedSystemAccountSchema,
      lenient: { readOnly: readOnlyMembers },
      example: { name: "Order import", requireStrictSignature: true, enabled: true },
      answers: { 200: { description: "The system account as it is now", schema: systemAccountSchema } },
    },
    (call) =>
      acting(deps, call.within, async (inside) => {
        const { caller, body, params } = call;
        const before = await accountToChange(inside, call, idOf(params));
        requireSame(body, before);
        if (!body.enabled) requireOtherAccount(caller, before.id);
        const after = await changeSystemAccount(inside, {
          orgId: before.orgId,
          id: before.id,
          name: body.name,
          requiresStrictSignature: body.requireStrictSignature,
          disabled: !body.enabled,
          ...by(caller),
        }).catch(toAccountAnswer);
        if (!after) throw notFound();
        const keys = await listKeys(inside.database.query, after.orgId, after.id);
        return versioned(systemAccountRecord(after, keys), after.version);
      }),
  );
}

/** @throws ApiError 422 */
function requireSame(
  body: { readonly applicationId?: string; readonly administrator?: boolean },
  before: SystemAccount,
): void {
  const { applicationId = before.applicationId, administrator = before.isAdministrator } = body;
  const message = "cannot be changed: make another system account";
  if (applicationId.toLowerCase() !== before.applicationId)
    throw invalid([{ path: "/applicationId", message }]);
  if (administrator !== before.isAdministrator) throw invalid([{ path: "/administrator", message }]);
}

function deleteRoute(api: ApiScope, deps: ManagementDeps): void {
  apiRoute(
    api,
    deps.strictDoor,
    {
      ...strict,
      method: "DELETE",
      path: `${PATH}/:id`,
      operationId: "deleteSystemAccount",
      summary: "Delete a system account with its keys; the audit log keeps what it did",
      answers: { 204: { description: "It is gone" } },
    },
    (call) =>
      acting(deps, call.within, async (inside) => {
        const { orgId, id } = await accountToChange(inside, call, idOf(call.params));
        requireOtherAccount(call.caller, id);
        await removeSystemAccount(inside, { orgId, id, ...by(call.caller) });
        return { status: 204 };
      }),
  );
}
