/** Deletes expired rows in batches, row by row, so that no other statement waits long. */
import { sql } from "kysely";
import type { Db } from "./open.ts";
import type { Schema } from "./schema.ts";

/** By table: its primary key, and the expiry in milliseconds. */
const expiring = {
  authorization_code: { key: ["org_id", "code_hash"], column: "expires_at" },
  device_authorization: { key: ["org_id", "device_code_hash"], column: "expires_at" },
  ciba_request: { key: ["org_id", "request_hash"], column: "expires_at" },
  pushed_request: { key: ["org_id", "uri_hash"], column: "expires_at" },
  token_family: { key: ["org_id", "id"], column: "expires_at" },
  opaque_access_token: { key: ["org_id", "token_hash"], column: "expires_at" },
  revoked_access_token: { key: ["org_id", "jti"], column: "expires_at" },
  browser_session: { key: ["org_id", "id"], column: "expires_at" },
  session_key: { key: ["org_id", "id"], column: "expires_at" },
  rate_limit: { key: ["org_id", "bucket"], column: "expires_at" },
  signing_key: { key: ["org_id", "kid"], column: "retire_at" },
  consumed_value: { key: ["org_id", "kind", "value_hash"], column: "expires_at" },
  idempotency_key: { key: ["org_id", "account_id", "key_hash"], column: "expires_at" },
  remembered_device: { key: ["org_id", "user_id", "id"], column: "expires_at" },
  known_browser: { key: ["org_id", "user_id", "browser_hash"], column: "expires_at" },
  user_action: { key: ["org_id", "id_hash"], column: "expires_at" },
  logout_delivery: { key: ["org_id", "id"], column: "created_at" },
  outgoing_mail: { key: ["org_id", "id"], column: "created_at" },
  activity: { key: ["org_id", "kind", "hour"], column: "hour" },
  device_enrollment_code: { key: ["org_id", "id"], column: "expires_at" },
  audit_typed_email: { key: ["org_id", "event_id"], column: "expires_at" },
  connection_start: { key: ["org_id", "state_hash"], column: "expires_at" },
  connection_test: { key: ["org_id", "id"], column: "expires_at" },
  connection_sign_in: { key: ["org_id", "connection_id", "id"], column: "expires_at" },
  saml_return: { key: ["org_id", "handle_hash"], column: "expires_at" },
  upstream_sign_in: { key: ["org_id", "user_id", "signed_in_at"], column: "expires_at" },
  pending_identity: { key: ["org_id", "holder_hash"], column: "expires_at" },
  email_code: { key: ["org_id", "holder_hash"], column: "expires_at" },
  event_delivery: { key: ["org_id", "target_id", "id"], column: "settled_at" },
  portal_link: { key: ["org_id", "id"], column: "ends_at" },
  initial_access_token: { key: ["org_id", "id"], column: "expires_at" },
  sign_up: { key: ["org_id", "id"], column: "expires_at" },
  device_challenge: { key: ["org_id", "id"], column: "expires_at" },
} as const satisfies {
  [Table in keyof Schema]?: { key: ReadonlyArray<keyof Schema[Table]>; column: keyof Schema[Table] };
};

export type ExpiringTable = keyof typeof expiring;

/** @returns how many were deleted, at most `limit`, the oldest first */
export async function deleteExpired(
  db: Db,
  table: ExpiringTable,
  before: number,
  limit: number,
): Promise<number> {
  const { key, column } = expiring[table];
  const from = sql.table(table);
  const isExpired = sql`${sql.ref(column)} < ${before}`;
  const keyColumns = sql.join(key.map((name) => sql.ref(name)));
  const { rows } = await sql<Readonly<Record<string, unknown>>>`
    select ${keyColumns} from ${from} where ${isExpired} order by ${sql.ref(column)} limit ${limit}`.execute(
    db,
  );
  for (const row of rows) {
    const isRow = sql.join(
      key.map((name) => sql`${sql.ref(name)} = ${row[name]}`),
      sql` and `,
    );
    // Checked again: the row may have been renewed since.
    await sql`delete from ${from} where ${isRow} and ${isExpired}`.execute(db);
  }
  return rows.length;
}
