/** Session keys: validated, revalidated when due, and ended by the service (specification, "Legacy federation", step 4). */

import { callApplication } from "../application-callbacks.ts";
import { sha256Base64url } from "../base64url.ts";
import { SignetError } from "../errors.ts";
import type { LegacyCalls } from "../legacy-api/legacy-calls.ts";
import type { LegacyUser } from "../legacy-api/legacy-records.ts";
import type { TypedClient } from "../service-api/typed-client.ts";
import { localSessionKey, rememberEnd } from "../sign-in/logout-memory.ts";
import type { SignInContext } from "../sign-in/sign-in.ts";
import type { SingleFlight } from "../sign-in/single-flight.ts";
import { isRecord } from "../tokens/claims.ts";

/** The content of the sealed session cookie. */
export interface LegacySession {
  /** Service and application: a session of another one is ignored. */
  readonly party: string;
  readonly sessionKey: string;
  readonly user: LegacyUser;
  /** Milliseconds since the epoch. */
  readonly endsAt: number;
  /** When the service last validated the key. */
  readonly checkedAt: number;
}

export interface UserFederatedContext extends SignInContext {
  readonly federationServer: string;
  readonly applicationId: string;
  readonly prompt: "login" | "select_account" | undefined;
  readonly revalidateAfterMs: number;
  readonly service: TypedClient<LegacyCalls>;
  /** Validations in progress, or recent. */
  readonly validations: SingleFlight<LegacySession>;
}

/** @param value the sealed cookie's, possibly of another service, application or SDK version */
export function parseSession(value: unknown, party: string): LegacySession | undefined {
  if (!isRecord(value) || value["party"] !== party || !isRecord(value["user"])) return undefined;
  const { sessionKey, endsAt, checkedAt } = value;
  const isComplete =
    typeof sessionKey === "string" && typeof endsAt === "number" && typeof checkedAt === "number";
  return isComplete ? (value as unknown as LegacySession) : undefined;
}

/** @throws SignetError `session_key` for a key that is no session of this application, `provider_…` */
export async function validateSessionKey(
  { service, applicationId, party, clock }: UserFederatedContext,
  sessionKey: string,
): Promise<LegacySession> {
  // Taken before the call: what happens at the service meanwhile is unknown.
  const checkedAt = clock();
  const query = { key: sessionKey };
  const body = await service.call("GET /legacy/api/auth/validate", { query }).catch(rejectKey);
  if (!isRecord(body) || body["Valid"] !== true || !isRecord(body["User"])) throw unexpectedResponse();
  const { PermId } = body["User"];
  if (typeof PermId !== "string" || PermId === "") throw unexpectedResponse();
  // Every application of the organisation can hold valid keys. Only one created for this application proves a sign-in here;
  // temporary and permanent keys are meant to be passed on.
  if (typeof body["ApplicationId"] !== "string" || body["ApplicationId"].toLowerCase() !== applicationId)
    throw invalidKey(new Error("the key belongs to another application"));
  if (body["Kind"] !== "Service") throw invalidKey(new Error("the key was not created by a sign-in"));
  const endsAt = Date.parse(String(body["ExpiresAt"]));
  if (Number.isNaN(endsAt)) throw unexpectedResponse();
  return { party, sessionKey, user: body["User"] as unknown as LegacyUser, endsAt, checkedAt };
}

/** Ends the key and the session it was created in. It may have ended before. */
export async function endSessionKey(
  { service }: UserFederatedContext,
  { sessionKey }: LegacySession,
): Promise<void> {
  try {
    await service.call("POST /legacy/api/Authentication/User/Logout", { body: { Key: sessionKey } });
  } catch (error) {
    if (!(error instanceof SignetError) || error.problem?.status !== 401) throw error;
  }
}

const unexpectedResponse = () =>
  new SignetError("provider_answer", "Unexpected response from the service about a session key.");

const invalidKey = (cause: unknown) =>
  new SignetError("session_key", "The session key is not valid for this application.", { cause });

function rejectKey(error: unknown): never {
  throw error instanceof SignetError && error.problem?.status === 401 ? invalidKey(error) : error;
}

/** Undefined if the session has ended. @throws SignetError if the service has been unavailable for too long */
export async function renewSession(
  context: UserFederatedContext,
  session: LegacySession,
): Promise<LegacySession | undefined> {
  const { clock, revalidateAfterMs, validations, onError } = context;
  const { sessionKey, endsAt, checkedAt } = session;
  // Negative if the clock was set back: nothing is known about the time in between.
  const isOlderThan = (ms: number) => clock() < checkedAt || clock() >= checkedAt + ms;
  if (endsAt <= clock()) return undefined;
  if (!isOlderThan(revalidateAfterMs)) return session;
  try {
    const key = await sha256Base64url(sessionKey);
    return await validations.run(key, () => validateSessionKey(context, sessionKey));
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    const isEnded = error.code === "session_key";
    // For one more interval, an outage of the service goes unnoticed.
    const isBridged = error.code === "provider_unreachable" && !isOlderThan(2 * revalidateAfterMs);
    if (!isEnded && !isBridged) throw error;
    onError(error);
    return isEnded ? undefined : session;
  }
}

/** @throws SignetError if unknown: then nobody is let in */
export async function hasSessionEnded(
  { memory }: UserFederatedContext,
  { sessionKey }: LegacySession,
): Promise<boolean> {
  const key = localSessionKey(await sha256Base64url(sessionKey));
  const [endedAt] = await callApplication("The logout memory", () => memory.recall([key]));
  return endedAt !== undefined;
}

export async function rememberSessionEnd(
  context: UserFederatedContext,
  { sessionKey }: LegacySession,
): Promise<void> {
  await rememberEnd(context, await sha256Base64url(sessionKey));
}
