/** Whose key it is (specification, "Legacy federation", step 4): only the service can say. */
import { SignetError } from "../errors.ts";
import type { LegacyUser } from "../legacy-api/legacy-records.ts";
import { isRecord } from "../tokens/claims.ts";
import type { FederationContext } from "./federation-context.ts";
import type { LegacySession } from "./legacy-session.ts";

/**
 * Asks the service whose key it is.
 *
 * @throws SignetError `session_key` for a key that is no session of this application, `provider_unreachable`,
 * `provider_answer`, `provider_refused`
 */
export async function checkedSession(context: FederationContext, sessionKey: string): Promise<LegacySession> {
  const { calls, applicationId, party, clock } = context;
  // From before the call: what happens at the service meanwhile is not known of.
  const checkedAt = clock();
  const query = { key: sessionKey };
  const { body } = await calls.call("GET /legacy/api/auth/validate", { query }).catch(asRefusedKey);
  if (!isRecord(body) || body["Valid"] !== true || !isRecord(body["User"])) throw notUnderstood();
  const { PermId } = body["User"];
  if (typeof PermId !== "string" || PermId === "") throw notUnderstood();
  // Any application of the organisation could have been given a key that is good: only one that was made for this one tells
  // that the user has signed in here. A temporary or permanent key was made to be passed on.
  if (typeof body["ApplicationId"] !== "string" || body["ApplicationId"].toLowerCase() !== applicationId)
    throw refusedKey("the key belongs to another application");
  if (body["Kind"] !== "Service") throw refusedKey("the key was not made by a sign-in");
  const endsAt = Date.parse(String(body["ExpiresAt"]));
  if (Number.isNaN(endsAt)) throw notUnderstood();
  return { party, sessionKey, user: body["User"] as unknown as LegacyUser, endsAt, checkedAt };
}

const notUnderstood = () =>
  new SignetError("provider_answer", "The service's answer about a key is not as expected.");

const refusedKey = (cause: unknown) =>
  new SignetError("session_key", "The session key is not good for this application.", {
    cause: typeof cause === "string" ? new Error(cause) : cause,
  });

function asRefusedKey(error: unknown): never {
  if (error instanceof SignetError && error.problem?.status === 401) throw refusedKey(error);
  throw error;
}
