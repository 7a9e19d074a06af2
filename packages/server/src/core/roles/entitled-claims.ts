/** The claims of the scopes `roles`, `groups` and `permissions` (api-v1.md, "In tokens"). */
import type { Application } from "../applications/application.ts";
import type { Claims } from "../scopes/custom-claims.ts";
import { type EntitlementScope, entitlementScopes } from "../scopes/scopes.ts";
import type { Entitlements, HeldGroup } from "./entitlement.ts";
import { groupsOnPaths } from "./entitlements.ts";

/** A claim with more values is left out, and `<claim>_overage` says so. */
export const MAX_TOLD = 200;

type Told = Pick<Application, "id" | "settings">;

/** All values, sorted. */
export function entitledValues(
  entitlements: Entitlements,
  { id: applicationId, settings }: Told,
  claim: EntitlementScope,
): string[] {
  const roles = entitlements.roles.filter((role) => role.applicationId === applicationId);
  if (claim === "roles") return sorted(roles.map(({ key }) => key));
  if (claim === "permissions") return sorted(roles.flatMap(({ permissions }) => permissions));
  return groupValues(entitlements, { applicationId, settings });
}

function groupValues(
  entitlements: Entitlements,
  { applicationId, settings }: { readonly applicationId: string; readonly settings: Told["settings"] },
): string[] {
  const { groupsClaim, groupsClaimValue } = settings;
  const holders = [...entitlements.roles, ...entitlements.access]
    .filter((one) => one.applicationId === applicationId)
    .flatMap(({ groupId }) => (groupId === null ? [] : [groupId]));
  const told =
    groupsClaim === "all" ? [...entitlements.groups.values()] : groupsOnPaths(entitlements, new Set(holders));
  return sorted(told.flatMap((group: HeldGroup) => group[groupsClaimValue] ?? []));
}

const sorted = (values: readonly string[]): string[] => [...new Set(values)].sort();

/** Of each of the scopes its claim, empty when there is nothing to tell, or the mark that there is too much. */
export function entitledClaims(
  entitlements: Entitlements,
  application: Told,
  scopes: readonly string[],
): Claims {
  return Object.fromEntries(
    entitlementScopes
      .filter((scope) => scopes.includes(scope))
      .map((claim) => {
        const values = entitledValues(entitlements, application, claim);
        return values.length > MAX_TOLD ? [`${claim}_overage`, true] : [claim, values];
      }),
  );
}
