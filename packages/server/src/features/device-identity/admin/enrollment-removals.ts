/** What enrolment leaves behind and housekeeping takes away. Devices and their keys stay for good: no key comes back. */
import type { Db } from "../../../db/open.ts";
import { deletePassedCodes } from "../enroll/enrollment-code.store.ts";
import { deletePassedChallenges } from "../tpm/tpm.store.ts";

const DAY_MS = 86_400_000;

export const enrollmentRemovals: ReadonlyArray<(db: Db, now: number, limit: number) => Promise<number>> = [
  // Which code a device came by is looked up in the first weeks; the audit log knows it longer.
  (db, now, limit) => deletePassedCodes(db, now - 30 * DAY_MS, limit),
  // An answer that comes late is told so, and not that nothing was asked.
  (db, now, limit) => deletePassedChallenges(db, now - DAY_MS, limit),
];
