/** What enrolment leaves behind and housekeeping takes away. Devices and their keys stay for good: no key comes back. */
import type { Db } from "../../../db/open.ts";
import { deleteExpiredCodes } from "../enrol/enrolment-code.store.ts";
import { deleteExpiredChallenges } from "../tpm/tpm.store.ts";

const DAY_MS = 86_400_000;

export const enrollmentRemovals: ReadonlyArray<(db: Db, now: number, limit: number) => Promise<number>> = [
  // Which code a device came by is looked up in the first weeks; the audit log knows it longer.
  (db, now, limit) => deleteExpiredCodes(db, now - 30 * DAY_MS, limit),
  // An answer that comes late is told so, and not that nothing was asked.
  (db, now, limit) => deleteExpiredChallenges(db, now - DAY_MS, limit),
];
