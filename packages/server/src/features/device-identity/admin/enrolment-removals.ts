/** Housekeeping deletes expired codes and challenges. Devices and keys stay, so that no key is enrolled twice. */
import type { Db } from "../../../db/open.ts";
import { deleteExpiredCodes } from "../enrol/enrolment-code.store.ts";
import { deleteExpiredChallenges } from "../tpm/tpm.store.ts";

const DAY_MS = 86_400_000;

export const enrolmentRemovals: ReadonlyArray<(db: Db, now: number, limit: number) => Promise<number>> = [
  // The code of a device is needed for support in the first weeks; the audit log keeps it longer.
  (db, now, limit) => deleteExpiredCodes(db, now - 30 * DAY_MS, limit),
  // A late answer gets `challenge_expired` instead of `challenge_not_found`.
  (db, now, limit) => deleteExpiredChallenges(db, now - DAY_MS, limit),
];
