/** Which audit events are told as security events: CAEP 1.0 and RISC 1.0. Each is about one user. */
import type { StoredEvent } from "../audit/audit.store.ts";
import { seconds } from "../clock.ts";

const BASE = "https://schemas.openid.net/secevent";

export const eventTypes = {
  sessionRevoked: `${BASE}/caep/event-type/session-revoked`,
  credentialChange: `${BASE}/caep/event-type/credential-change`,
  tokenClaimsChange: `${BASE}/caep/event-type/token-claims-change`,
  accountDisabled: `${BASE}/risc/event-type/account-disabled`,
  accountEnabled: `${BASE}/risc/event-type/account-enabled`,
  accountPurged: `${BASE}/risc/event-type/account-purged`,
  identifierChanged: `${BASE}/risc/event-type/identifier-changed`,
} as const;

/** What a receiver may ask for. */
export const supportedEvents: readonly string[] = Object.values(eventTypes);

/** Sent without being asked for (SSF 1.0 §8.1.4.1). */
export const VERIFICATION = `${BASE}/ssf/event-type/verification`;

export interface SecurityEvent {
  readonly userId: string;
  readonly type: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

type Told = Pick<SecurityEvent, "type"> & { readonly claims?: Readonly<Record<string, unknown>> };

const credential = (credential_type: string, change_type: string): Told => ({
  type: eventTypes.credentialChange,
  claims: { credential_type, change_type },
});

const told: Readonly<Record<string, Told>> = {
  "session.ended": { type: eventTypes.sessionRevoked },
  "user.session-ended": { type: eventTypes.sessionRevoked },
  "user.signed-out-everywhere": { type: eventTypes.sessionRevoked },
  "password.set": credential("password", "create"),
  "password.reset": credential("password", "update"),
  "password.changed": credential("password", "update"),
  "authenticator.added": credential("app", "create"),
  "authenticator.removed": credential("app", "delete"),
  "passkey.added": credential("fido2-platform", "create"),
  "passkey.removed": credential("fido2-platform", "delete"),
  "second-factors.reset": credential("app", "revoke"),
  "user.role-changed": { type: eventTypes.tokenClaimsChange },
  "user.disabled": { type: eventTypes.accountDisabled },
  "user.deprovisioned": { type: eventTypes.accountDisabled },
  "user.enabled": { type: eventTypes.accountEnabled },
  "user.deleted": { type: eventTypes.accountPurged },
  "email.changed": { type: eventTypes.identifierChanged },
};

/** @returns undefined for an event that is told to nobody */
export function securityEvent(event: StoredEvent): SecurityEvent | undefined {
  const kind = Object.hasOwn(told, event.action) ? told[event.action] : undefined;
  const userId = userOf(event);
  if (!kind || userId === undefined) return undefined;
  const changed = kind.type === eventTypes.tokenClaimsChange ? changedClaims(event) : {};
  if (!changed) return undefined;
  const session = sessionOf(event);
  const claims = {
    ...kind.claims,
    ...changed,
    // An additional subject member (SSF 1.0 §3.1): one session of the user, and not all.
    ...(session === undefined ? {} : { session: { format: "opaque", id: session } }),
    ...{ event_timestamp: seconds(event.at), initiating_entity: initiator(event, userId) },
  };
  return { userId, type: kind.type, claims };
}

/** A session is ended by its user. */
const userOf = ({ action, actor, target }: StoredEvent): string | undefined => {
  if (action !== "session.ended") return target;
  return actor.startsWith("user:") ? actor.slice("user:".length) : undefined;
};

function sessionOf({ action, target, details }: StoredEvent): string | undefined {
  if (action === "session.ended") return target;
  const { sessionId } = details;
  return action === "user.session-ended" && typeof sessionId === "string" ? sessionId : undefined;
}

/** CAEP 1.0 §3.2: the new values. */
function changedClaims({ details }: StoredEvent): { claims: { role: string } } | undefined {
  const role = details["role"] ?? details["to"];
  return typeof role === "string" ? { claims: { role } } : undefined;
}

/** CAEP 1.0 §2. */
function initiator({ actor }: StoredEvent, userId: string): "user" | "admin" | "system" {
  if (actor === `user:${userId}`) return "user";
  return actor === "system" || actor === "anonymous" ? "system" : "admin";
}
