/** Frame of a change page under account/security, and what follows the change. */
import { LastFactor, LastPasskey } from "../../core/second-factors/changes.ts";
import { LastBreakGlassAdministrator } from "../../core/users/leaving/last-administrator.ts";
import type { Refusal } from "../../page-kit/accept-form.ts";
import { redirectTo, show } from "../../page-kit/page.ts";
import {
  type AccountDeps,
  type AccountVisit,
  accountFormFrame,
  accountFrame,
  accountPath,
  refusal,
} from "./account-page.ts";
import { type ChangeFrame, shownCodesPage } from "./change.page.ts";
import type { SecurityDone } from "./security/security.page.ts";

export const changeFrame = (deps: AccountDeps, visit: AccountVisit): ChangeFrame =>
  accountFormFrame(deps, visit, "security");

/** Why a factor stays: it is the last one of a kind that the organisation, or its enforced domain, requires. Undefined for every other error. */
export function lastFactorRefusal(
  { messages: { security }, organisation }: AccountVisit,
  error: unknown,
): Refusal | undefined {
  const { name } = organisation;
  if (error instanceof LastFactor)
    return refusal(409, security.lastFactor, security.lastFactorText({ organisation: name }));
  if (error instanceof LastPasskey)
    return refusal(409, security.lastPasskey, security.lastPasskeyText({ organisation: name }));
  if (error instanceof LastBreakGlassAdministrator)
    return refusal(409, security.lastBreakGlass, security.lastBreakGlassText({ organisation: name }));
  return undefined;
}

export const backToSecurity = (visit: AccountVisit, done: SecurityDone): Promise<void> =>
  redirectTo(visit, `${accountPath(visit.organisation, "security")}?done=${done}`);

/** Shows new recovery codes once; redirects to the security page if there are none. */
export function finishChange(
  visit: AccountVisit,
  codes: readonly string[],
  done: SecurityDone,
): Promise<void> {
  if (codes.length === 0) return backToSecurity(visit, done);
  const frame = accountFrame(visit, "security");
  const backUri = `${accountPath(visit.organisation, "security")}?done=${done}`;
  return show(visit, frame, shownCodesPage({ ...frame, backUri, codes }));
}
