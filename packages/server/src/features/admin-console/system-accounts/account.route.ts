/** GET system-accounts/{id}: its keys, what it may act for, and how to call with it. */
import type { FastifyInstance } from "fastify";
import { findApplication } from "../../../core/applications/applications.store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { isKeyActive, type SystemAccount } from "../../../core/system-accounts/system-account.ts";
import { listKeys, listPermittedApplications } from "../../../core/system-accounts/system-accounts.store.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { copyScript } from "../../../html/scripts.ts";
import { queryOf } from "../../../http/form-body.ts";
import { lastChangeOf } from "../../../page-kit/actor-names.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { administratorHere, consolePath, consoleRoute, show, type Visit } from "../../../page-kit/visit.ts";
import { type AccountView, accountPage } from "./account.page.ts";
import { type AccountsDeps, accountHere, accountPath, idIn, listCrumb } from "./account-visit.ts";
import { curlLines, sdkLines } from "./snippets.ts";

export function accountRoute(app: FastifyInstance, deps: AccountsDeps): void {
  consoleRoute(app, deps, "/system-accounts/:id", {
    get: async (visit) => {
      const path = accountPath(visit.organisation, idIn(visit));
      const signedIn = await administratorHere(deps, visit, path);
      if (signedIn) await showAccount(deps, visit, signedIn, await accountHere(deps, visit));
    },
  });
}

async function showAccount(
  deps: AccountsDeps,
  visit: Visit,
  signedIn: SignedIn,
  account: SystemAccount,
): Promise<void> {
  const { organisation } = visit;
  const { orgId, id } = account;
  const db = deps.database.query;
  const frame = await consoleFrame(deps, visit, signedIn, "systemAccounts");
  const application = await findApplication(db, orgId, account.applicationId);
  const keys = await listKeys(db, orgId, id);
  const now = deps.clock();
  const newest = keys.findLast((key) => isKeyActive(key, now));
  const caller = newest && { isAdministrator: account.isAdministrator, publicKey: newest.publicKey };
  const uriOf = (applicationId: string) => consolePath(organisation, `/applications/${applicationId}`);
  const page = accountPage({
    ...frame,
    breadcrumbs: [listCrumb(organisation, frame.messages)],
    account,
    application: { name: application?.name ?? "", uri: uriOf(account.applicationId) },
    keys: keys.toReversed().map((key) => ({ ...key, isActive: isKeyActive(key, now) })),
    permitted: (await listPermittedApplications(db, account)).map((one) => ({ ...one, uri: uriOf(one.id) })),
    snippets: caller && { sdk: sdkLines(deps.baseUrl, caller), curl: curlLines(deps.baseUrl, caller) },
    uriOf: (rest) => accountPath(organisation, id, rest),
    lastChange: await lastChangeOf(deps, orgId, id, frame.messages),
    done: doneOf(queryOf(visit.request).values.get("done"), frame.messages),
    script: copyScript.path,
  });
  await show(visit, frame, page);
}

/** Only a thing of ours is said to be done, whatever the address says. */
const doneOf = (code: string | undefined, { console: { systemAccounts } }: Messages): AccountView["done"] =>
  code !== undefined && Object.hasOwn(systemAccounts.done, code) ? (code as AccountView["done"]) : undefined;
