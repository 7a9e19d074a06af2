/** What the application's session cookie holds: the session key, whose it is, and when the service said so. */
import type { LegacyUser } from "../legacy-api/legacy-records.ts";
import { isRecord } from "../tokens/claims.ts";

export interface LegacySession {
  readonly party: string;
  readonly sessionKey: string;
  readonly user: LegacyUser;
  /** Milliseconds since the epoch. */
  readonly endsAt: number;
  /** When the service was asked. */
  readonly checkedAt: number;
}

/** @param value what the sealed cookie held: ours, but perhaps of another service, application or version of the SDK */
export function sessionOf(value: unknown, party: string): LegacySession | undefined {
  if (!isRecord(value) || value["party"] !== party || !isRecord(value["user"])) return undefined;
  const { sessionKey, endsAt, checkedAt } = value;
  const isWhole =
    typeof sessionKey === "string" && typeof endsAt === "number" && typeof checkedAt === "number";
  return isWhole ? (value as unknown as LegacySession) : undefined;
}
