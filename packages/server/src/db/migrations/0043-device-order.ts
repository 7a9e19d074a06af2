/** Devices in the order in which they were enrolled, and enrolment codes in that in which they were made: pages of API v1. */
import type { Migration } from "./migration.ts";

export const deviceOrder: Migration = {
  name: "0043-device-order",
  statements: [
    "create index device_enrolled on device (org_id, enrolled_at, id)",
    "create index device_enrollment_code_created on device_enrollment_code (org_id, created_at, id)",
  ],
};
