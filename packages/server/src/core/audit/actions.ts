/**
 * The closed list of audit actions, as `<noun>.<past participle>`; the console has a text for each (locales/<language>/console-audit-log.json).
 * An action is never renamed, nor its kind changed: the chain keeps what it says.
 */

/** Changed its target: pages of records show who did so last. */
const CHANGE = "change";
/** Concerned its target without changing the record. */
const OCCURRENCE = "occurrence";

/** Grouped as the console offers them in its filter. */
export const auditGroups = {
  signIn: {
    "session.started": OCCURRENCE,
    "session.renewed": OCCURRENCE,
    "session.ended": OCCURRENCE,
    "user.session-ended": OCCURRENCE,
    "user.signed-out-everywhere": OCCURRENCE,
    "sign-in.failed": OCCURRENCE,
    "sign-in.limited": OCCURRENCE,
    "second-factor.failed": OCCURRENCE,
    "second-factor.limited": OCCURRENCE,
    "recovery-code.used": OCCURRENCE,
    "remembered-device.added": OCCURRENCE,
    "remembered-device.revoked": OCCURRENCE,
    "password-reset.requested": OCCURRENCE,
    "verify-email.requested": OCCURRENCE,
    "registration.requested": OCCURRENCE,
    "user-code.failed": OCCURRENCE,
    "email-code.sent": OCCURRENCE,
    "email-code.failed": OCCURRENCE,
  },
  users: {
    "user.created": CHANGE,
    "user.registered": CHANGE,
    "user.invited": CHANGE,
    "user.provisioned": CHANGE,
    "user.deprovisioned": CHANGE,
    "invitation.accepted": CHANGE,
    "invitation.withdrawn": CHANGE,
    "user.attributes-changed": CHANGE,
    "user.profile-changed": CHANGE,
    "user.username-changed": CHANGE,
    "user.role-changed": CHANGE,
    "user.disabled": CHANGE,
    "user.enabled": CHANGE,
    "user.data-exported": OCCURRENCE,
    "user.deleted": CHANGE,
    "user-settings.changed": CHANGE,
    "email-change.requested": OCCURRENCE,
    "email.changed": CHANGE,
    "email.verified": CHANGE,
    "password.set": CHANGE,
    "password.reset": CHANGE,
    "password.changed": CHANGE,
    "roaming.requested": OCCURRENCE,
    "roaming.accepted": CHANGE,
    "roaming.ended": CHANGE,
  },
  secondFactors: {
    "authenticator.added": CHANGE,
    "authenticator.removed": CHANGE,
    "passkey.added": CHANGE,
    "passkey.renamed": CHANGE,
    "passkey.removed": CHANGE,
    "recovery-codes.made": CHANGE,
    "second-factors.reset": CHANGE,
    "second-factors.reset-requested": OCCURRENCE,
  },
  consents: {
    "consent.granted": OCCURRENCE,
    "consent.granted-for-user": OCCURRENCE,
    "consent.granted-for-organisation": OCCURRENCE,
    "consent.denied": OCCURRENCE,
    "consent.revoked": OCCURRENCE,
    "preauthorization.created": OCCURRENCE,
    "preauthorization.deleted": OCCURRENCE,
    "device.approved": OCCURRENCE,
    "device.denied": OCCURRENCE,
  },
  tokens: {
    "code.replayed": OCCURRENCE,
    "device-code.replayed": OCCURRENCE,
    "refresh-token.repeated": OCCURRENCE,
    "refresh-token.replayed": OCCURRENCE,
    "refresh-token.revoked": OCCURRENCE,
    "access-token.revoked": OCCURRENCE,
    "session-key.issued": OCCURRENCE,
    "session-key.revoked": OCCURRENCE,
    "backchannel-logout.failed": OCCURRENCE,
  },
  applications: {
    "application.created": CHANGE,
    "application.changed": CHANGE,
    "application.key-changed": CHANGE,
    "application.disabled": CHANGE,
    "application.enabled": CHANGE,
    "application.deleted": CHANGE,
    "application.user-assigned": CHANGE,
    "application.user-unassigned": CHANGE,
    "application.group-assigned": CHANGE,
    "application.group-unassigned": CHANGE,
    "application.refused": OCCURRENCE,
    "client-secret.created": CHANGE,
    "client-secret.revoked": CHANGE,
  },
  connections: {
    "connection.created": CHANGE,
    "connection.changed": CHANGE,
    "connection.deleted": CHANGE,
    "connection.token-created": CHANGE,
    "connection.token-revoked": CHANGE,
    "connection-sign-in.failed": OCCURRENCE,
    "identity.linked": CHANGE,
    "domain.created": CHANGE,
    "domain.changed": CHANGE,
    "domain.deleted": CHANGE,
    "domain.proven": OCCURRENCE,
    "domain.lapsed": OCCURRENCE,
    "break-glass.granted": CHANGE,
    "break-glass.withdrawn": CHANGE,
  },
  groups: {
    "group.created": CHANGE,
    "group.changed": CHANGE,
    "group.members-changed": CHANGE,
    "group.handed-over": CHANGE,
    "group.deleted": CHANGE,
    "role.created": CHANGE,
    "role.changed": CHANGE,
    "role.deleted": CHANGE,
    "role.assigned": CHANGE,
    "role.unassigned": CHANGE,
  },
  systemAccounts: {
    "system-account.created": CHANGE,
    "system-account.changed": CHANGE,
    "system-account.disabled": CHANGE,
    "system-account.enabled": CHANGE,
    "system-account.deleted": CHANGE,
    "system-account.key-created": CHANGE,
    "system-account.key-revoked": CHANGE,
    "system-account.permission-granted": CHANGE,
    "system-account.permission-withdrawn": CHANGE,
    "system-account.refused": OCCURRENCE,
  },
  scopes: {
    "scope.created": CHANGE,
    "scope.changed": CHANGE,
    "scope.deleted": CHANGE,
  },
  keys: {
    "signing-key.rotated": CHANGE,
    "master-key.rotated": CHANGE,
    "device-ca.created": CHANGE,
    "device-ca.rotated": CHANGE,
  },
  pools: {
    "signing-pool.created": CHANGE,
    "signing-pool.changed": CHANGE,
    "signing-pool.disabled": CHANGE,
    "signing-pool.enabled": CHANGE,
    "signing-pool.deleted": CHANGE,
    "signing-agent.registered": CHANGE,
    "signing-agent.keys-added": CHANGE,
    "signing-agent.key-retired": CHANGE,
    "signing-agent.deactivated": CHANGE,
    "signing-agent.compromised": CHANGE,
    "signing-request.signed": OCCURRENCE,
    "signing-request.rejected": OCCURRENCE,
    "signing-request.denied": OCCURRENCE,
    "signing-request.failed": OCCURRENCE,
  },
  devices: {
    "enrollment-code.created": CHANGE,
    "enrollment-code.withdrawn": CHANGE,
    "device.enrolled": CHANGE,
    "device.renewed": CHANGE,
    "device.revoked": CHANGE,
    "device-attestation.refused": OCCURRENCE,
    "device-root.imported": CHANGE,
    "device-root.removed": CHANGE,
    "device-ek.allowed": CHANGE,
    "device-ek.removed": CHANGE,
  },
  organisation: {
    "organisation.created": CHANGE,
    "organisation.changed": CHANGE,
    "organisation.disabled": CHANGE,
    "organisation.enabled": CHANGE,
    "organisation.deletion-scheduled": CHANGE,
    "organisation.deletion-undone": CHANGE,
    "organisation.configuration-applied": CHANGE,
    "mail-text.changed": CHANGE,
    "mail.failed": OCCURRENCE,
    "mail.test-sent": OCCURRENCE,
    "audit.exported": OCCURRENCE,
    "list.exported": OCCURRENCE,
    "audit.events-withheld": OCCURRENCE,
    "audit-log.cut": OCCURRENCE,
  },
} as const;

type Groups = typeof auditGroups;
export type AuditGroup = keyof Groups;
type ActionsOf<Group> = Group extends AuditGroup ? keyof Groups[Group] : never;
export type AuditAction = ActionsOf<AuditGroup>;

const kinds = new Map<string, typeof CHANGE | typeof OCCURRENCE>(
  Object.values(auditGroups).flatMap((group) => Object.entries(group)),
);

export const auditActions: readonly AuditAction[] = [...kinds.keys()] as AuditAction[];

export const isAuditAction = (text: string): text is AuditAction => kinds.has(text);

/** Whether an event with this action changed its target. */
export const isChangeOf = (action: AuditAction, target: string | null | undefined): boolean =>
  typeof target === "string" && kinds.get(action) === CHANGE;
