/** /api/v1/organisations/{org}/system-accounts: programs that sign their requests, and what they may act for. */
import { lockApplication } from "../../../core/applications/applications.store.ts";
import { findSystemAccount, listKeys } from "../../../core/system-accounts/system-accounts.store.ts";
import {
  changeSystemAccount,
  createSystemAccount,
  removeSystemAccount,
} from "../../../core/system-accounts/system-accounts.ts";
import { invalid } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { unknownReference } from "../frame/member-faults.ts";
import {
  type ApiResource,
  createRoute,
  deleteRoute,
  getRoute,
  listRoute,
  patchRoute,
} from "../frame/resource-routes.ts";
import { lockedAccount, requireAdministrable, toAccountAnswer } from "./changed-account.ts";
import {
  createdSystemAccount,
  type KeyedAccount,
  newSystemAccount,
  systemAccountPatch,
  systemAccountRecord,
  systemAccountSchema,
} from "./system-account-record.ts";
import { listSystemAccountPage, systemAccountFields } from "./system-accounts-list.store.ts";

const forAdministrators = "`signet:organisation:write` too for an administrator's account.";

export function apiSystemAccountsRoutes(api: ApiScope, deps: ApiDeps): void {
  const accounts: ApiResource<KeyedAccount> = {
    ...{ api, deps, tag: "API v1: system accounts", one: "system account", many: "system accounts" },
    reads: ["signet:applications:read"],
    writes: ["signet:applications:write"],
    ...{ schema: systemAccountSchema, record: systemAccountRecord, toAnswer: toAccountAnswer },
    volatile: ["lastUsedAt", "keys.lastUsedAt"],
  };
  listRoute(
    accounts,
    "/api/v1/organisations/:org/system-accounts",
    { operationId: "apiListSystemAccounts", summary: "List system accounts", fields: systemAccountFields },
    ({ orgId, list }) => listSystemAccountPage(deps.database.query, orgId, list),
  );
  getRoute(
    accounts,
    "/api/v1/organisations/:org/system-accounts/:id",
    {
      operationId: "apiReadSystemAccount",
      summary: "Get a system account and its keys, without secret keys",
    },
    async ({ orgId, id }) => {
      const account = await findSystemAccount(deps.database.query, orgId, id);
      return account && { ...account, keys: await listKeys(deps.database.query, orgId, id) };
    },
  );
  newAccountRoute(accounts);
  changeRoutes(accounts);
}

function newAccountRoute(accounts: ApiResource<KeyedAccount>): void {
  createRoute(
    accounts,
    "/api/v1/organisations/:org/system-accounts",
    {
      operationId: "apiCreateSystemAccount",
      summary: "Create a system account; the secret key of its first key pair is shown once",
      description: forAdministrators,
      ...{ body: newSystemAccount, created: createdSystemAccount, errors: [403] },
      example: { name: "Order import", applicationId: "01998d70-0000-7000-8000-000000000000" },
    },
    async (inside, { caller, orgId, body }) => {
      const isAdministrator = body.administrator ?? false;
      requireAdministrable(caller, { isAdministrator });
      const applicationId = body.applicationId.toLowerCase();
      // Locked, so that it can't be deleted before the account is written.
      if (!(await lockApplication(inside.database.query, { orgId, id: applicationId })))
        throw unknownReference("/applicationId");
      const { account, key, secret } = await createSystemAccount(inside, {
        ...{ ...actOf(caller), applicationId, name: body.name, isAdministrator },
        requiresStrictSignature: body.requireStrictSignature ?? false,
        allowsEndUserAddress: body.allowEndUserAddress ?? false,
      });
      const isDisabled = body.enabled === false;
      const disabled = { ...actOf(caller), id: account.id, disabled: true };
      const made = isDisabled ? await changeSystemAccount(inside, disabled) : account;
      return {
        row: { ...account, ...made, keys: [key] },
        members: { publicKey: key.publicKey, secretKey: secret },
        shownOnce: ["secretKey"],
      };
    },
  );
}

function changeRoutes(accounts: ApiResource<KeyedAccount>): void {
  patchRoute(
    accounts,
    "/api/v1/organisations/:org/system-accounts/:id",
    {
      operationId: "apiChangeSystemAccount",
      summary: "Change a system account",
      description: forAdministrators,
      ...{ body: systemAccountPatch, example: { requireStrictSignature: true }, errors: [403] },
    },
    async (inside, call) => {
      const { caller, patch, id } = call;
      const before = await lockedAccount(inside, call);
      await call.check(before);
      if (patch.name === null) throw invalid([{ path: "/name", message: "cannot be unset" }]);
      const { name, requireStrictSignature, allowEndUserAddress, enabled } = patch;
      const after = await changeSystemAccount(inside, {
        ...{ ...actOf(caller), id },
        ...(name !== undefined && { name }),
        ...(requireStrictSignature !== undefined && {
          requiresStrictSignature: requireStrictSignature ?? false,
        }),
        ...(allowEndUserAddress !== undefined && { allowsEndUserAddress: allowEndUserAddress ?? false }),
        ...(enabled !== undefined && { disabled: enabled === false }),
      });
      return after && { ...after, keys: before.keys };
    },
  );
  deleteRoute(
    accounts,
    "/api/v1/organisations/:org/system-accounts/:id",
    {
      operationId: "apiDeleteSystemAccount",
      summary: "Delete a system account with its keys; its audit events remain",
      ...{ description: forAdministrators, errors: [403] },
    },
    async (inside, call) => {
      await call.check(await lockedAccount(inside, call));
      return removeSystemAccount(inside, { ...actOf(call.caller), id: call.id });
    },
  );
}
