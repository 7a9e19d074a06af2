/** GET system-accounts/{id}: its keys, the applications it may act for, and how to call with it. */
import type { FastifyInstance } from "fastify";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { isKeyActive } from "../../../core/system-accounts/system-account.ts";
import { listKeys, listPermittedApplications } from "../../../core/system-accounts/system-accounts.store.ts";
import { findLastChange } from "../../../page-kit/actor-names.ts";
import { consoleFrame, doneKey } from "../../../page-kit/console-frame.ts";
import {
  consolePath,
  consoleRoute,
  requireAdministrator,
  requireId,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { accountPage } from "./account.page.ts";
import { type AccountsDeps, accountPath, listCrumb, requireAccount } from "./account-path.ts";
import { curlLines, sdkLines } from "./snippets.ts";

export function accountRoute(app: FastifyInstance, deps: AccountsDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/system-accounts/:id", { get: showAccount });
}

async function showAccount(deps: AccountsDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  requireId(visit);
  const signedIn = await requireAdministrator(deps, visit);
  const account = await requireAccount(deps, visit);
  const { orgId, id } = account;
  const db = deps.database.query;
  const frame = await consoleFrame(deps, visit, signedIn, "systemAccounts");
  const application = await findApplication(db, orgId, account.applicationId);
  const keys = await listKeys(db, orgId, id);
  const now = deps.clock();
  const newest = keys.findLast((key) => isKeyActive(key, now));
  const caller = newest && { isAdministrator: account.isAdministrator, publicKey: newest.publicKey };
  const applicationUri = (applicationId: string) =>
    consolePath(organisation, `/applications/${applicationId}`);
  const permitted = await listPermittedApplications(db, account);
  const page = accountPage({
    ...frame,
    breadcrumbs: [listCrumb(organisation, frame.messages)],
    account,
    application: { name: application?.name ?? "", uri: applicationUri(account.applicationId) },
    keys: keys.toReversed().map((key) => ({ ...key, isActive: isKeyActive(key, now) })),
    permitted: permitted.map((one) => ({ ...one, uri: applicationUri(one.id) })),
    snippets: caller && { sdk: sdkLines(deps.baseUrl, caller), curl: curlLines(deps.baseUrl, caller) },
    uriOf: (rest) => accountPath(organisation, id, rest),
    lastChange: await findLastChange(deps, orgId, id, frame.messages),
    done: doneKey(visit, frame.messages.console.systemAccounts.done),
  });
  await show(visit, frame, page);
}
