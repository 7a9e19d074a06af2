/** The rows of the outbox that wait, by organisation and queue in the order of their turns; the indexes before were by time alone. */
import type { Migration } from "./migration.ts";

export const outboxTurns: Migration = {
  name: "0015-outbox-turns",
  statements: [
    "create index outgoing_mail_turns on outgoing_mail (org_id, next_attempt_at, id) where sent_at is null and failed_at is null",
    "drop index outgoing_mail_due",
    `create index logout_delivery_turns on logout_delivery (org_id, application_id, next_attempt_at, id)
      where delivered_at is null and failed_at is null`,
    "drop index logout_delivery_due",
  ],
};
