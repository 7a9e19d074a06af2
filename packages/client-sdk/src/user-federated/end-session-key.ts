/** Signing out at the service (specification, `User/Logout`). */
import { SignetError } from "../errors.ts";
import type { FederationContext } from "./federation-context.ts";
import type { LegacySession } from "./legacy-session.ts";

/** Ends the key and the session that it was made in. One that had ended before is as it was wanted. */
export async function endSessionKey(
  { calls }: FederationContext,
  { sessionKey }: LegacySession,
): Promise<void> {
  try {
    await calls.call("POST /legacy/api/Authentication/User/Logout", { body: { Key: sessionKey } });
  } catch (error) {
    if (!(error instanceof SignetError) || error.problem?.status !== 401) throw error;
  }
}
