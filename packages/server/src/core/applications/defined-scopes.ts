/** The scopes of an application are defined: an undefined one cannot be set, and a deleted one leaves every application. */
import type { Db } from "../../db/open.ts";
import { type Act, auditFields } from "../audit/audit.store.ts";
import { forgetRegistrationScope } from "../client-registration/registrable-scopes.store.ts";
import { findOperatorsOrganisation } from "../operators/operators.store.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import { isApiScope, isOperatorScope } from "../scopes/api-scopes.ts";
import { listCustomScopes, lockScopesByName } from "../scopes/scopes.store.ts";
import { isSignalScope, lateStandardScopes, standardScopes } from "../scopes/scopes.ts";
import type { Application, ApplicationSettings } from "./application.ts";
import {
  findApplication,
  listApplications,
  lockApplication,
  replaceApplication,
} from "./applications.store.ts";
import { followSettings } from "./copied-settings.ts";
import { lockCopies } from "./copies.store.ts";
import { InvalidApplication } from "./validation.ts";

/** No organisation can have a scope of this name. */
const isAlwaysStandard = (scope: string): boolean =>
  standardScopes.some((one) => one === scope) && !lateStandardScopes.includes(scope);

/** Has a meaning of the service's own where the organisation has no older scope of this name, which is locked like any other. */
const hasOwnMeaning = (scope: string, ofOperators: boolean): boolean =>
  isOperatorScope(scope)
    ? ofOperators
    : isApiScope(scope) || isSignalScope(scope) || lateStandardScopes.includes(scope);

/** A scope that nobody but the service gives a meaning, and that users can grant. */
export const hasOwnOrStandardMeaning = (scope: string): boolean =>
  isAlwaysStandard(scope) || lateStandardScopes.includes(scope);

/** The operators' scopes are defined in their organisation alone. */
const isOfOperators = async (tx: Db, orgId: string, wanted: readonly string[]): Promise<boolean> =>
  wanted.some(isOperatorScope) && (await findOperatorsOrganisation(tx)) === orgId;

/** Locks the scopes of a new application, so that they are not deleted before it is there. @throws InvalidApplication */
export async function requireDefinedScopes(
  tx: Db,
  orgId: string,
  { allowedScopes }: ApplicationSettings,
): Promise<void> {
  const custom = allowedScopes.filter((scope) => !isAlwaysStandard(scope));
  if (custom.length === 0) return;
  const defined = await lockScopesByName(tx, orgId, custom);
  refuseUndefined({
    all: allowedScopes,
    wanted: custom,
    defined,
    ofOperators: await isOfOperators(tx, orgId, custom),
  });
}

/**
 * Those that the application has already may stay: they are older than this rule. Locks the application before it looks, as a
 * deletion of a scope locks all of them.
 * @throws InvalidApplication
 */
export async function requireAddedScopesDefined(
  tx: Db,
  before: Application,
  { allowedScopes }: ApplicationSettings,
): Promise<void> {
  const had = before.settings.allowedScopes;
  const added = allowedScopes.filter((scope) => !isAlwaysStandard(scope) && !had.includes(scope));
  if (added.length === 0) return;
  await lockApplication(tx, before);
  const defined = await listCustomScopes(tx, before.orgId);
  refuseUndefined({
    ...{ all: allowedScopes, wanted: added, defined: defined.map(({ name }) => name) },
    ofOperators: await isOfOperators(tx, before.orgId, added),
  });
}

function refuseUndefined({
  all,
  wanted,
  defined,
  ofOperators,
}: {
  readonly all: readonly string[];
  readonly wanted: readonly string[];
  readonly defined: readonly string[];
  readonly ofOperators: boolean;
}): void {
  const faults = wanted
    .filter((scope) => !defined.includes(scope) && !hasOwnMeaning(scope, ofOperators))
    .map((scope) => ({
      path: `allowedScopes[${all.indexOf(scope)}]`,
      message: `${scope} is not a scope of the organisation: define it first`,
      code: "undefinedScope" as const,
      value: scope,
    }));
  if (faults.length > 0) throw new InvalidApplication(faults);
}

const PAGE = 100;

/** Takes a deleted scope from every application. The caller has locked the applications (`lockApplications`). */
export async function withdrawScope(
  tx: Db,
  deps: RecordDeps,
  { name, ...act }: Act & { readonly name: string },
): Promise<void> {
  const now = deps.clock();
  await forgetRegistrationScope(tx, act.orgId, name);
  for (let after: string | undefined; ; ) {
    const page = await listApplications(tx, act.orgId, { after, limit: PAGE });
    for (const { orgId, id, settings } of page) {
      if (!settings.allowedScopes.includes(name)) continue;
      await lockApplication(tx, { orgId, id });
      const current = await findApplication(tx, orgId, id);
      if (!current) continue;
      const allowedScopes = current.settings.allowedScopes.filter((scope) => scope !== name);
      // One made anew is another scope: what this organisation has consented to is gone too.
      const grantedScopes = current.grantedScopes?.filter((scope) => scope !== name) ?? null;
      const changed = { settings: { ...current.settings, allowedScopes }, updatedAt: now, grantedScopes };
      const next = { ...current, ...changed, version: current.version + 1 };
      await replaceApplication(tx, next);
      for (const copy of await lockCopies(tx, current)) await followSettings(tx, deps, copy, next);
      const event = { action: "application.changed", target: id } as const;
      const details = { changed: ["allowedScopes"] };
      await recordChange(tx, deps, "application", { ...auditFields(act, now), ...event, details });
    }
    after = page.at(-1)?.id;
    if (page.length < PAGE) return;
  }
}
