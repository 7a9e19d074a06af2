/** What an application was issued, and how it ends. */
import type { Db } from "../../db/open.ts";
import { expireCibaRequests } from "../ciba-requests/ciba-requests.store.ts";
import { expireCodes } from "../codes/codes.store.ts";
import { expireDeviceAuthorizations } from "../device-authorizations/device-authorizations.store.ts";
import { revokeSessionKeys } from "../session-keys/session-keys.store.ts";
import { revokeTokenFamilies } from "../tokens/tokens.store.ts";

/** Revokes codes of both kinds, refresh tokens and session keys; enabling the application again doesn't restore them. */
export async function revokeGrantedCredentials(
  tx: Db,
  { orgId, id: applicationId }: { orgId: string; id: string },
  now: number,
): Promise<void> {
  await expireCodes(tx, { orgId, applicationId, now });
  await expireDeviceAuthorizations(tx, { orgId, applicationId, now });
  await expireCibaRequests(tx, { orgId, applicationId, now });
  await revokeTokenFamilies(tx, { orgId, applicationId, now, reason: "application_disabled" });
  await revokeSessionKeys(tx, { orgId, applicationId, now, reason: "application_disabled" });
}
