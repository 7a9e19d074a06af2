/**
 * Who may use an application (wire-contract.md §4): every member of the organisation, or those assigned to it. It rules
 * sign-in by OAuth and by federation, the refresh of tokens, and session keys.
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
