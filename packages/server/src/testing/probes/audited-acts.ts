/**
 * Finds acts that change data without an audit event naming actor, target and address. Every test with
 * a service or a command checks this (test-service.ts, command-line.ts), so new routes and commands are covered.
 */
import type { AuditAction } from "../../core/audit/actions.ts";
import type { WatchedAct, Write } from "./watched-acts.ts";

/** The server's internal tables. */
const books: Readonly<Record<string, string>> = {
  activity: "numbers of what happens",
  audit_event: "the audit log itself",
  audit_chain: "its end",
  audit_filter: "searches of it that administrators keep",
  audit_mention: "an index of it",
  audit_typed_email: "a part of it that is deleted in time",
  background_lease: "which node does what",
  connection_call: "what came of the last calls of a directory",
  connection_sign_in: "what came of sign-ins at an identity provider",
  saml_return: "what an identity provider has said, for two minutes",
  connection_test: "a test sign-in, which makes nothing; that it has ended is an event",
  connection_start: "who has been sent to an identity provider, for minutes",
  upstream_sign_in: "what a provider has said of a sign-in: its session is told",
  connection_keys: "what a provider signs with, as it was last seen; that it has new keys is an event",
  pending_identity: "who has come back from an identity provider for the first time, for minutes",
  event_target: "the queue of who is sent events",
  event_delivery: "events on their way: asking for one again is told",
  email_code: "tries, and codes that are taken: their sending is told",
  consumed_value: "what may be used once",
  device_challenge: "what a TPM is asked, for minutes",
  device_crl: "made anew when it is due",
  idempotency_key: "answers that are given again",
  operators_organisation: "told when it is made, as an organisation",
  rate_limit: "how often somebody tried",
  installation_key: "keys of the whole installation",
  opaque_access_token: "an access token, which no event tells of in the other form either",
  ledger_batch: "signatures on their way into the ledger",
  ledger_bundle: "the ledger, which tells for itself",
  ledger_index: "where a signature is in it",
  ledger_log: "its newest checkpoint",
  ledger_tile: "its tree",
  pushed_request: "what a client asks, for a minute",
  refused_request: "what a developer is shown of refused requests",
  schema_migration: "what the database has become",
  threshold_commitment: "nonce commitments of agents, each for one signature",
  threshold_part: "what one agent is asked for of a signature: the signature is told",
  signing_request: "what waits for an agent: its end is told",
};

/** Implied by an earlier event, a sign-in or a consent, and too frequent to audit; the overview counts these. */
const handedOut: Readonly<Record<string, string>> = {
  authorization_code: "to an application that somebody has signed in to",
  device_authorization: "what a device asks for, until somebody answers",
  session_application: "which applications a session has reached",
  signing_key: "made by itself at the first use; a rotation is told",
  token_family: "a token to an application that has proven itself",
};

/** Usage timestamps and counters, and timestamps of locked rows. */
const uses: Readonly<Record<string, readonly string[]>> = {
  agent_key: ["last_token_exp"],
  threshold_member: ["boot", "boot_id", "seen_at"],
  authorization_code: ["used_at", "family_id"],
  browser_session: ["last_seen_at"],
  client_registration: ["token_hash", "previous_hash", "software_statement", "last_used_at"],
  client_secret: ["last_used_at"],
  initial_access_token: ["uses"],
  connection_token: ["last_used_at"],
  domain: ["last_error", "missing_since", "next_check_at", "updated_at", "version"],
  device: ["last_seen_at"],
  ciba_request: ["polled_at", "interval_seconds", "family_id"],
  device_authorization: ["polled_at", "interval_seconds", "family_id"],
  event_stream: ["verified_at"],
  ledger_witness: ["cosigned_size", "cosigned_at", "last_error"],
  linked_identity: ["last_sign_in_at"],
  session_key: ["validated_at", "last_seen_at", "expires_at"],
  signing_agent: ["last_seen_at"],
  token_family: ["refresh_hash", "refresh_expires_at", "previous_hash", "rotated_at", "generation"],
  user_account: ["updated_at"],
};

/** Events that may have no target. */
const withoutTarget: Partial<Readonly<Record<AuditAction, string>>> = {
  "device-attestation.refused": "the code was none of ours",
  "email-code.sent": "no account has this address",
  "password-reset.requested": "no account has this address",
  "registration.requested": "there is no account yet",
  "sign-up.requested": "there is no account yet",
  "roaming.requested": "whether there is one is the other organisation's to know",
};

/**
 * @param where.isHere acts of an operator at the machine itself, which come from no address
 * @returns one line for each, with what it has written
 */
export function unauditedActs(
  acts: readonly WatchedAct[],
  { isHere = false }: { readonly isHere?: boolean } = {},
): string[] {
  return acts.flatMap(({ method, url, writes }) => {
    const changes = writes.filter((write) => !isBookkeeping(write));
    if (changes.length === 0) return [];
    const what = `${method} ${url}: ${[...new Set(changes.map(toldAs))].join("; ")}`;
    const events = writes.filter(({ table, verb }) => table === "audit_event" && verb === "insert");
    if (events.length === 0) return [`${what}: no event`];
    return events.flatMap(({ values: { actor, action, target, address, details } }) => {
      const isFromNowhere = !address && !isHere && actor !== "system";
      const isOnNothing = !target && !((action as string) in withoutTarget);
      const says = `${action} by ${actor} on ${target} from ${address}`;
      const isOfNoRequest = !isHere && actor !== "system" && !String(details).includes('"requestId":');
      if (isOfNoRequest) return [`${what}: ${action} without the request's reference`];
      return !actor || isFromNowhere || isOnNothing ? [`${what}: ${says}`] : [];
    });
  });
}

function isBookkeeping({ table, verb, columns }: Write): boolean {
  if (table in books) return true;
  if (verb === "insert") return table in handedOut;
  return verb === "update" && columns.every((column) => uses[table]?.includes(column));
}

const toldAs = ({ verb, table, columns }: Write): string => [verb, table, columns.join()].join(" ").trim();
