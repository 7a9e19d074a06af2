/**
 * System accounts of the organisation. Writes need the strict form of signature: the plain one covers the body alone, and
 * replaying it could make the sender an administrator's account.
 */
import type { Static } from "typebox";
import type { SystemAccount } from "../../../core/system-accounts/system-account.ts";
import {
  findSystemAccount,
  listKeys,
  listKeysByAccount,
  listSystemAccounts,
} from "../../../core/system-accounts/system-accounts.store.ts";
import {
  changeSystemAccount,
  createSystemAccount,
  removeSystemAccount,
} from "../../../core/system-accounts/system-accounts.ts";
import { invalid } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { pageQuerySchema } from "../../../http/api/paging.ts";
import { by, inTransaction, type ManagementDeps } from "../management.ts";
import {
  type Created,
  createRoute,
  deleteRoute,
  getRoute,
  listRoute,
  type RecordKey,
  type ResourceRoutes,
  replaceRoute,
  type WriteCall,
} from "../resource-routes.ts";
import { lockAccount, lockCaller, requireOtherAccount, toAccountAnswer } from "./locked-account.ts";
import {
  changedSystemAccountSchema,
  createdSystemAccountSchema,
  type KeyedSystemAccount,
  newSystemAccountSchema,
  readOnlyMembers,
  systemAccountRecord,
  systemAccountSchema,
} from "./system-account-record.ts";

export function systemAccountsRoutes(api: ApiScope, deps: ManagementDeps): void {
  const { query: db } = deps.database;
  const accounts: ResourceRoutes<KeyedSystemAccount> = {
    api,
    deps,
    tag: "System accounts",
    one: "system account",
    many: "system accounts",
    schema: systemAccountSchema,
    record: systemAccountRecord,
    toAnswer: toAccountAnswer,
  };
  listRoute(
    accounts,
    "/legacy/api/oauth/system-accounts",
    {
      operationId: "listSystemAccounts",
      summary: "List system accounts, oldest first",
      query: pageQuerySchema,
    },
    async (orgId, page) => {
      const rows = await listSystemAccounts(db, orgId, page);
      const ids = rows.map(({ id }) => id);
      const keys = await listKeysByAccount(db, orgId, ids);
      return rows.map((account) => ({ ...account, keys: keys.get(account.id) ?? [] }));
    },
  );
  getRoute(
    accounts,
    "/legacy/api/oauth/system-accounts/:id",
    { operationId: "getSystemAccount", summary: "Get a system account and its keys, without secret keys" },
    async (orgId, id) => {
      const account = await findSystemAccount(db, orgId, id);
      return account && { ...account, keys: await listKeys(db, orgId, id) };
    },
  );
  writeRoutes(accounts, deps);
}

function writeRoutes(accounts: ResourceRoutes<KeyedSystemAccount>, deps: ManagementDeps): void {
  createRoute(
    accounts,
    "/legacy/api/oauth/system-accounts",
    {
      operationId: "createSystemAccount",
      errors: [404],
      summary: "Create a system account; the response shows the secret key of its first key pair once",
      body: newSystemAccountSchema,
      created: createdSystemAccountSchema,
      example: { name: "Order import", applicationId: "01998d70-0000-7000-8000-000000000000" },
    },
    createAccount,
  );
  replaceRoute(
    accounts,
    "/legacy/api/oauth/system-accounts/:id",
    {
      operationId: "replaceSystemAccount",
      summary: "Change a system account's name, required signature form and status",
      body: changedSystemAccountSchema,
      readOnly: readOnlyMembers,
      example: { name: "Order import", requireStrictSignature: true, enabled: true },
    },
    (key, call) => inTransaction(deps, undefined, (inside) => replaceAccount(inside, key, call)),
  );
  deleteRoute(
    accounts,
    "/legacy/api/oauth/system-accounts/:id",
    {
      operationId: "deleteSystemAccount",
      summary: "Delete a system account with its keys; its audit events remain",
    },
    (key, call) =>
      inTransaction(deps, undefined, async (inside) => {
        await lockAccount(inside, call, key.id);
        requireOtherAccount(call.caller, key.id);
        await removeSystemAccount(inside, key);
        return true;
      }),
  );
}

async function createAccount(
  inside: ManagementDeps,
  { caller, body }: WriteCall<Static<typeof newSystemAccountSchema>>,
): Promise<Created<KeyedSystemAccount>> {
  await lockCaller(inside, caller);
  const { account, key, secret } = await createSystemAccount(inside, {
    orgId: caller.organisation.id,
    applicationId: body.applicationId.toLowerCase(),
    name: body.name,
    isAdministrator: body.administrator ?? false,
    requiresStrictSignature: body.requireStrictSignature ?? false,
    allowsEndUserAddress: body.allowEndUserAddress ?? false,
    ...by(caller),
  });
  return {
    row: { ...account, keys: [key] },
    members: { publicKey: key.publicKey, secretKey: secret },
    shownOnce: ["secretKey"],
  };
}

async function replaceAccount(
  inside: ManagementDeps,
  key: RecordKey,
  call: WriteCall<Static<typeof changedSystemAccountSchema>>,
): Promise<KeyedSystemAccount | undefined> {
  const { caller, body } = call;
  const before = await lockAccount(inside, call, key.id);
  requireSame(body, before);
  if (!body.enabled) requireOtherAccount(caller, before.id);
  const after = await changeSystemAccount(inside, {
    ...key,
    name: body.name,
    requiresStrictSignature: body.requireStrictSignature,
    ...(body.allowEndUserAddress === undefined ? {} : { allowsEndUserAddress: body.allowEndUserAddress }),
    disabled: !body.enabled,
  });
  return after && { ...after, keys: await listKeys(inside.database.query, key.orgId, key.id) };
}

/** @throws ApiError 422 */
function requireSame(
  body: { readonly applicationId?: string; readonly administrator?: boolean },
  before: SystemAccount,
): void {
  const { applicationId = before.applicationId, administrator = before.isAdministrator } = body;
  const message = "cannot be changed: create another system account";
  if (applicationId.toLowerCase() !== before.applicationId)
    throw invalid([{ path: "/applicationId", message }]);
  if (administrator !== before.isAdministrator) throw invalid([{ path: "/administrator", message }]);
}
