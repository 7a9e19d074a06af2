/**
 * Application access (wire-contract.md §4): every member of the organisation, or assigned users only. Checked at
 * sign-in (OAuth and federation), at token refresh and for session keys.
 */
import type { Db } from "../../db/open.ts";
import type { Application } from "../applications/application.ts";
import { isAssigned } from "./application-access.store.ts";

/** @param userId a member of the application's organisation */
export async function mayUse(
  db: Db,
  { orgId, id, settings }: Pick<Application, "orgId" | "id" | "settings">,
  userId: string,
): Promise<boolean> {
  return settings.access === "everyone" || isAssigned(db, { orgId, applicationId: id, userId });
}
