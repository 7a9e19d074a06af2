/** The machine that a browser session began on, and the key of the browser's that it is bound to. */
import type { Migration } from "./migration.ts";

export const deviceSessions: Migration = {
  name: "0073-device-sessions",
  statements: [
    "alter table browser_session add column device_id text",
    "alter table browser_session add column bound_key text",
    "alter table browser_session add column bound_at bigint",
    "create index browser_session_device on browser_session (org_id, device_id) where device_id is not null",
  ],
};
