/** The client that an administrator grants consent to. */
import type { Application } from "../../core/applications/application.ts";
import { findApplication, lockApplication } from "../../core/applications/applications.store.ts";
import { InvalidConsent, PreauthorizationExists } from "../../core/consents/consents.ts";
import { conflict, invalid } from "../../http/api/api-error.ts";
import { type ManagementDeps, unknownReference } from "./management.ts";

/** Enabled or not, and locked so that it can't be deleted before the grant is written. @throws ApiError 404 */
export async function grantedClient(
  { database }: ManagementDeps,
  orgId: string,
  clientId: string,
): Promise<Application> {
  const id = clientId.toLowerCase();
  const isLocked = await lockApplication(database.query, { orgId, id });
  const application = isLocked ? await findApplication(database.query, orgId, id) : undefined;
  if (!application) throw unknownReference("/clientId");
  return application;
}

export function toGrantAnswer(error: unknown): never {
  if (error instanceof InvalidConsent) throw invalid([{ path: "/scopes", message: error.message }]);
  if (error instanceof PreauthorizationExists)
    throw conflict("The client is already pre-authorized for these scopes.");
  throw error;
}
