/** Everything that belongs to one organisation, and how it is deleted in batches, so that no other statement waits long. */
import { sql } from "kysely";
import type { Db } from "./open.ts";
import type { Schema } from "./schema.ts";

/**
 * By table: its primary key without the organisation. In the order of deletion: what refers to another table comes before it, so
 * that no row takes thousands of others along; the audit log last, which tells until the end whose rows these were.
 */
const rowsOfOrganisation = {
  session_application: ["session_id", "application_id"],
  authorization_code: ["code_hash"],
  device_authorization: ["device_code_hash"],
  ciba_request: ["request_hash"],
  pushed_request: ["uri_hash"],
  token_family: ["id"],
  revoked_access_token: ["jti"],
  opaque_access_token: ["token_hash"],
  session_key: ["id"],
  threshold_part: ["round_id", "agent_id"],
  signing_request: ["id"],
  logout_delivery: ["id"],
  outgoing_mail: ["id"],
  refused_request: ["application_id", "slot"],
  consent: ["id"],
  preauthorization: ["id"],
  authorization_detail_type: ["id"],
  application_external_key: ["external_key"],
  application_origin: ["origin", "application_id"],
  application_user: ["application_id", "user_id"],
  application_user_setting: ["application_id", "user_id"],
  application_group: ["application_id", "group_id"],
  role_assignment: ["id"],
  role: ["id"],
  client_secret: ["application_id", "id"],
  client_certificate_authority: ["id"],
  client_metadata_policy: [],
  initial_access_token: ["id"],
  client_registration: ["application_id"],
  operators_organisation: ["singleton"],
  portal_link: ["id"],
  domain: ["id"],
  break_glass_account: ["user_id"],
  invitation: ["id"],
  sign_up: ["id"],
  accepted_terms: ["user_id", "version"],
  connection_call: ["connection_id", "id"],
  connection_sign_in: ["connection_id", "id"],
  connection_start: ["state_hash"],
  saml_return: ["handle_hash"],
  connection_test: ["id"],
  pending_identity: ["holder_hash"],
  email_code: ["holder_hash"],
  linked_identity: ["connection_id", "subject"],
  connection_keys: ["connection_id"],
  upstream_sign_in: ["user_id", "signed_in_at"],
  group_claim: ["group_id", "user_id", "connection_id"],
  event_stream_removed: ["stream_id", "user_id"],
  event_stream: ["id"],
  event_delivery: ["target_id", "id"],
  event_target: ["id"],
  webhook: ["id"],
  trust: ["id"],
  token_exchange_policy: ["id"],
  connection_token: ["id"],
  scim_user: ["user_id"],
  connection: ["id"],
  idempotency_key: ["account_id", "key_hash"],
  system_account_permission: ["account_id", "application_id"],
  system_account_key: ["public_key"],
  system_account: ["id"],
  application: ["id"],
  custom_scope: ["id"],
  protected_resource: ["id"],
  agent_key: ["kid"],
  compromised_agent_key: ["kid"],
  agent_key_claim: ["kid"],
  threshold_message: ["ceremony_id", "agent_id", "round"],
  threshold_ceremony: ["id"],
  threshold_commitment: ["agent_id", "hiding"],
  threshold_member: ["agent_id"],
  signing_agent: ["id"],
  signing_pool: ["id"],
  device_certificate: ["fingerprint"],
  device_key: ["key_hash"],
  device: ["id"],
  device_enrollment_code: ["id"],
  device_challenge: ["id"],
  device_allowed_ek: ["ek_hash"],
  device_root: ["fingerprint"],
  device_crl: ["generation"],
  device_ca: ["generation"],
  user_action: ["id_hash"],
  remembered_device: ["user_id", "id"],
  known_browser: ["user_id", "browser_hash"],
  passkey: ["user_id", "id"],
  recovery_code: ["user_id", "code_hash"],
  totp_credential: ["user_id"],
  factor_reset_request: ["user_id"],
  browser_session: ["id"],
  group_nested: ["group_id", "member_id"],
  group_user: ["group_id", "user_id"],
  user_group: ["id"],
  membership: ["user_id"],
  user_account: ["id"],
  signing_key: ["kid"],
  ledger_batch: ["id"],
  ledger_index: ["input_hash"],
  ledger_bundle: ["bundle_index"],
  ledger_tile: ["level", "tile_index"],
  ledger_witness: ["id"],
  ledger_log: [],
  consumed_value: ["kind", "value_hash"],
  rate_limit: ["bucket"],
  activity: ["kind", "hour"],
  mail_text: ["template", "locale"],
  organisation_image: ["digest"],
  audit_filter: ["id"],
  audit_typed_email: ["event_id"],
  audit_mention: ["event_id", "kind"],
  // Before the events, in the order in which they are chained: two that hold one of them each would wait for each other.
  audit_chain: [],
  audit_checkpoint: [],
  audit_event: ["id"],
} as const satisfies { [Table in keyof Schema]?: ReadonlyArray<keyof Schema[Table]> };

export const tablesOfOrganisation = Object.entries(rowsOfOrganisation) as ReadonlyArray<
  readonly [keyof typeof rowsOfOrganisation, readonly string[]]
>;

/** @returns how many rows were deleted, at most `limit`; 0: nothing of the organisation is left but its own row */
export async function deleteRowsOfOrganisation(db: Db, orgId: string, limit: number): Promise<number> {
  let deleted = 0;
  for (const [table, key] of tablesOfOrganisation) {
    deleted += await deleteSome(db, { table, key, orgId, limit: limit - deleted });
    if (deleted >= limit) return deleted;
  }
  return deleted;
}

async function deleteSome(
  db: Db,
  { table, key, orgId, limit }: { table: string; key: readonly string[]; orgId: string; limit: number },
): Promise<number> {
  const from = sql.table(table);
  const all = sql`delete from ${from} where org_id = ${orgId}`;
  if (key.length === 0) return countOf(await all.execute(db));
  const columns = sql.join(key.map((name) => sql.ref(name)));
  const some = sql`select ${columns} from ${from} where org_id = ${orgId} limit ${limit}`;
  return countOf(await sql`${all} and (${columns}) in (${some})`.execute(db));
}

const countOf = ({ numAffectedRows = 0n }: { numAffectedRows?: bigint | undefined }): number =>
  Number(numAffectedRows);
