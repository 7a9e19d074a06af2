/** Whom an administrator's yes is for, and what it may not be. */
import type { Application } from "../../../core/applications/application.ts";
import { findApplication, holdApplication } from "../../../core/applications/applications.store.ts";
import { ConsentThere, InvalidConsent } from "../../../core/consents/consents.ts";
import { conflict, invalid } from "../../../http/api/api-error.ts";
import { type ManagementDeps, namesNothing } from "../management.ts";

/** Enabled or not, and kept from being deleted meanwhile. @throws ApiError 404 */
export async function grantedClient(
  { database }: ManagementDeps,
  orgId: string,
  clientId: string,
): Promise<Application> {
  const key = { orgId, id: clientId.toLowerCase() };
  const held = await holdApplication(database.query, key);
  const application = held ? await findApplication(database.query, orgId, key.id) : undefined;
  if (!application) throw namesNothing("/clientId");
  return application;
}

export function toGrantAnswer(error: unknown): never {
  if (error instanceof InvalidConsent) throw invalid([{ path: "/scopes", message: error.message }]);
  if (error instanceof ConsentThere) throw conflict("The client is pre-authorized for these scopes.");
  throw error;
}
