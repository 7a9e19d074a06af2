/** What a copy has of its home, and who may have one (application-copies.ts). */
import type { Db } from "../../db/open.ts";
import type { RecordDeps } from "../record-changes.ts";
import type { Application, ApplicationSettings } from "./application.ts";
import { replaceApplication } from "./applications.store.ts";

/** Whether the organisation may enable it. */
export function isOfferedTo({ orgId, homeOrgId, settings: { shared } }: Application, to: string): boolean {
  if (homeOrgId !== null || shared === undefined || to === orgId) return false;
  return shared.organisations === "any" || shared.organisations.includes(to);
}

/**
 * What a copy has of its home: all but what is of the home organisation alone, no scope that nobody consented to, and no type of
 * authorization details, which are the other organisation's: nobody there has allowed them.
 */
export function copiedSettings(home: Application, granted: readonly string[]): ApplicationSettings {
  const { shared: _shared, signingPoolId: _pool, ...settings } = home.settings;
  return {
    ...settings,
    authorizationDetailsTypes: [],
    allowedScopes: settings.allowedScopes.filter((scope) => granted.includes(scope)),
  };
}

/** The copy becomes what its home is. The caller has locked both. */
export async function followSettings(
  tx: Db,
  { changes, clock }: Pick<RecordDeps, "changes" | "clock">,
  copy: Application,
  home: Application,
): Promise<void> {
  const { name, disabledAt } = home;
  const settings = copiedSettings(home, copy.grantedScopes ?? []);
  const next = { ...copy, name, disabledAt, settings, updatedAt: clock(), version: copy.version + 1 };
  await replaceApplication(tx, next);
  await changes.publish(tx, { orgId: copy.orgId, topic: "application" });
}
