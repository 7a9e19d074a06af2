/** Which audit events are told as security events: CAEP 1.0 and RISC 1.0. Each is about one user. */
import type { StoredEvent } from "../audit/audit.store.ts";
import { seconds } from "../clock.ts";
import { ACR_NAMESPACE, toAssurance } from "../sessions/session.ts";

const BASE = "https://schemas.openid.net/secevent";

export const eventTypes = {
  sessionRevoked: `${BASE}/caep/event-type/session-revoked`,
  credentialChange: `${BASE}/caep/event-type/credential-change`,
  tokenClaimsChange: `${BASE}/caep/event-type/token-claims-change`,
  assuranceLevelChange: `${BASE}/caep/event-type/assurance-level-change`,
  accountDisabled: `${BASE}/risc/event-type/account-disabled`,
  accountEnabled: `${BASE}/risc/event-type/account-enabled`,
  accountPurged: `${BASE}/risc/event-type/account-purged`,
  identifierChanged: `${BASE}/risc/event-type/identifier-changed`,
} as const;

/** What a receiver may ask for. */
export const supportedEvents: readonly string[] = Object.values(eventTypes);

/** Sent without being asked for (SSF 1.0 §8.1.4.1). */
export const VERIFICATION = `${BASE}/ssf/event-type/verification`;

/** As VERIFICATION (§8.1.5): this side has changed the stream's status. */
export const STREAM_UPDATED = `${BASE}/ssf/event-type/stream-updated`;

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
  "session.renewed": { type: eventTypes.assuranceLevelChange },
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
  const changed = changesOf(kind.type, event);
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

/** Their targets are sessions, and their actors the users of these. */
const ofSessions: readonly string[] = ["session.ended", "session.renewed"];

const userOf = ({ action, actor, target }: StoredEvent): string | undefined => {
  if (!ofSessions.includes(action)) return target;
  return actor.startsWith("user:") ? actor.slice("user:".length) : undefined;
};

function sessionOf({ action, target, details }: StoredEvent): string | undefined {
  if (ofSessions.includes(action)) return target;
  const { sessionId } = details;
  return action === "user.session-ended" && typeof sessionId === "string" ? sessionId : undefined;
}

/** @returns undefined when nothing has changed that a receiver is told of */
function changesOf(type: string, event: StoredEvent): Readonly<Record<string, unknown>> | undefined {
  if (type === eventTypes.tokenClaimsChange) return changedClaims(event);
  return type === eventTypes.assuranceLevelChange ? changedLevel(event) : {};
}

/** CAEP 1.0 §3.4: the same session by another way of signing in, in the values of the `acr` claim. */
function changedLevel({ details: { acr, previousAcr } }: StoredEvent) {
  if (typeof acr !== "string" || typeof previousAcr !== "string" || acr === previousAcr) return undefined;
  const isIncrease = toAssurance(acr) > toAssurance(previousAcr);
  return {
    ...{ namespace: ACR_NAMESPACE, current_level: acr, previous_level: previousAcr },
    change_direction: isIncrease ? "increase" : "decrease",
  };
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
