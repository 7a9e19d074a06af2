/** System accounts: creating, changing, rotating keys, granting applications. Every change is audited and published. */
import { randomUUID } from "node:crypto";
import { randomSecret } from "@signet/protocol/hash";
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import { findApplication } from "../applications/applications.store.ts";
import { isSecretLabel } from "../applications/client-secrets.ts";
import { type Act, type AuditEvent, auditFields } from "../audit/audit.store.ts";
import type { Encryption } from "../encryption/encryption.ts";
import { sealedColumn } from "../encryption/sealed-columns.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import type { SystemAccount, SystemAccountKey } from "./system-account.ts";
import {
  deletePermission,
  deleteSystemAccount,
  expireOtherKeys,
  findSystemAccount,
  insertKey,
  insertPermission,
  insertSystemAccount,
  lockSystemAccount,
  revokeKey,
  updateSystemAccount,
} from "./system-accounts.store.ts";

export interface SystemAccountDeps extends RecordDeps {
  readonly encryption: Encryption;
}

export class InvalidSystemAccount extends Error {
  readonly code:
    | "invalid-name"
    | "invalid-label"
    | "unknown-application"
    | "unknown-account"
    | "invalid-expiry";
  constructor(code: InvalidSystemAccount["code"], message: string) {
    super(message);
    this.name = "InvalidSystemAccount";
    this.code = code;
  }
}

/** A new key with its secret, which is shown once. */
export interface NewKey {
  readonly key: SystemAccountKey;
  readonly secret: string;
}

export interface NewSystemAccount extends Act {
  readonly applicationId: string;
  readonly name: string;
  readonly isAdministrator: boolean;
  readonly requiresStrictSignature: boolean;
  readonly allowsEndUserAddress?: boolean;
}

/** @throws InvalidSystemAccount */
export async function createSystemAccount(
  deps: SystemAccountDeps,
  input: NewSystemAccount,
): Promise<NewKey & { account: SystemAccount }> {
  const { orgId, applicationId } = input;
  const name = requireName(input.name);
  const now = deps.clock();
  const account: SystemAccount = {
    orgId,
    id: newUuid(),
    applicationId,
    name,
    isAdministrator: input.isAdministrator,
    requiresStrictSignature: input.requiresStrictSignature,
    allowsEndUserAddress: input.allowsEndUserAddress ?? false,
    permissions: [],
    createdAt: now,
    createdBy: input.actor,
    updatedAt: now,
    disabledAt: null,
    lastUsedAt: null,
    version: 1,
  };
  return deps.database.transaction(async (tx) => {
    await requireApplication(tx, orgId, applicationId);
    await insertSystemAccount(tx, account);
    const newKey = await addKey(tx, deps, account, { label: "first", expiresAt: null });
    const { isAdministrator: administrator, allowsEndUserAddress } = account;
    const right = allowsEndUserAddress ? { allowEndUserAddress: true } : {};
    const details = { applicationId, administrator, ...right };
    await recordAct(tx, deps, { ...input, id: account.id }, "system-account.created", details);
    return { account, ...newKey };
  });
}

export interface KeyRotation extends Act {
  readonly id: string;
  readonly label: string;
  /** Milliseconds; null for a key that does not expire. */
  readonly expiresAt: number | null;
  /** Expires the other keys after so many seconds; left out, they stay valid. */
  readonly expireOthersInSeconds?: number;
}

/** Adds a key pair; the old ones stay valid. @throws InvalidSystemAccount */
export async function rotateSystemAccountKey(deps: SystemAccountDeps, input: KeyRotation): Promise<NewKey> {
  const { orgId, id } = input;
  const now = deps.clock();
  if (input.expiresAt !== null && input.expiresAt <= now)
    throw new InvalidSystemAccount("invalid-expiry", "the expiry date is in the past");
  if (!isSecretLabel(input.label))
    throw new InvalidSystemAccount("invalid-label", "a label has at most 100 plain characters");
  return deps.database.transaction(async (tx) => {
    const account = await requireAccount(tx, orgId, id);
    const newKey = await addKey(tx, deps, account, { label: input.label, expiresAt: input.expiresAt });
    const { publicKey } = newKey.key;
    if (input.expireOthersInSeconds !== undefined)
      await expireOtherKeys(
        tx,
        { orgId, accountId: id, publicKey },
        now + input.expireOthersInSeconds * 1000,
      );
    await updateSystemAccount(tx, { orgId, id }, {}, now);
    await recordAct(tx, deps, input, "system-account.key-created", { publicKey });
    return newKey;
  });
}

/** @returns false when the account has no such key that is not revoked */
export async function revokeSystemAccountKey(
  deps: SystemAccountDeps,
  input: Act & { id: string; publicKey: string },
): Promise<boolean> {
  const { orgId, id, publicKey } = input;
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    if (!(await lockSystemAccount(tx, { orgId, id }))) return false;
    if (!(await revokeKey(tx, { orgId, accountId: id, publicKey }, now))) return false;
    await updateSystemAccount(tx, { orgId, id }, {}, now);
    await recordAct(tx, deps, input, "system-account.key-revoked", { publicKey });
    return true;
  });
}

export interface SystemAccountChange extends Act {
  readonly id: string;
  readonly name?: string;
  readonly requiresStrictSignature?: boolean;
  readonly allowsEndUserAddress?: boolean;
  readonly disabled?: boolean;
}

/**
 * Writes and audits actual changes only.
 * @returns the account after the change; undefined when there is none. @throws InvalidSystemAccount
 */
export async function changeSystemAccount(
  deps: SystemAccountDeps,
  input: SystemAccountChange,
): Promise<SystemAccount | undefined> {
  const { orgId, id } = input;
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    const before = await lockedSystemAccount(tx, orgId, id);
    if (!before) return undefined;
    const { disabled = before.disabledAt !== null } = input;
    const after = {
      name: input.name === undefined ? before.name : requireName(input.name),
      requiresStrictSignature: input.requiresStrictSignature ?? before.requiresStrictSignature,
      allowsEndUserAddress: input.allowsEndUserAddress ?? before.allowsEndUserAddress,
      disabledAt: disabled ? (before.disabledAt ?? now) : null,
    };
    const members = ["name", "requiresStrictSignature", "allowsEndUserAddress", "disabledAt"] as const;
    const changed = members.filter((member) => before[member] !== after[member]);
    if (changed.length === 0) return before;
    await updateSystemAccount(tx, { orgId, id }, after, now);
    const contents = changed.filter((member) => member !== "disabledAt");
    if (contents.length > 0)
      await recordAct(tx, deps, input, "system-account.changed", { changed: contents });
    if (contents.length < changed.length)
      await recordAct(tx, deps, input, disabled ? "system-account.disabled" : "system-account.enabled");
    return { ...before, ...after, updatedAt: now, version: before.version + 1 };
  });
}

type PermissionAct = Act & { readonly id: string; readonly applicationId: string };

/**
 * Lets the account act for another application of the organisation.
 * @returns false when it already may, as it always may for its own. @throws InvalidSystemAccount
 */
export async function grantApplication(deps: SystemAccountDeps, input: PermissionAct): Promise<boolean> {
  const { orgId, id, applicationId, actor } = input;
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    const account = await requireAccount(tx, orgId, id);
    if (account.applicationId === applicationId) return false;
    await requireApplication(tx, orgId, applicationId);
    if (!(await insertPermission(tx, { orgId, accountId: id, applicationId, by: actor, now }))) return false;
    await updateSystemAccount(tx, { orgId, id }, {}, now);
    await recordAct(tx, deps, input, "system-account.permission-granted", { applicationId });
    return true;
  });
}

/** @returns false when it was not granted */
export async function withdrawApplication(deps: SystemAccountDeps, input: PermissionAct): Promise<boolean> {
  const { orgId, id, applicationId } = input;
  return deps.database.transaction(async (tx) => {
    if (!(await lockSystemAccount(tx, { orgId, id }))) return false;
    if (!(await deletePermission(tx, { orgId, accountId: id, applicationId }))) return false;
    await updateSystemAccount(tx, { orgId, id }, {}, deps.clock());
    await recordAct(tx, deps, input, "system-account.permission-withdrawn", { applicationId });
    return true;
  });
}

/** @returns false when there is no such account */
export async function removeSystemAccount(
  deps: SystemAccountDeps,
  input: Act & { id: string },
): Promise<boolean> {
  const { orgId, id } = input;
  return deps.database.transaction(async (tx) => {
    if (!(await deleteSystemAccount(tx, { orgId, id }))) return false;
    await recordAct(tx, deps, input, "system-account.deleted");
    return true;
  });
}

/** Binds a sealed secret to its row. */
export const sealedAccountSecrets = sealedColumn({
  table: "system_account_key",
  column: "secret",
  key: ["org_id", "public_key"],
  rowName: ({ org_id, public_key }) => secretContext(String(org_id), String(public_key)),
});

export const secretContext = (orgId: string, publicKey: string) => `system-account-key|${orgId}|${publicKey}`;

async function addKey(
  tx: Db,
  deps: SystemAccountDeps,
  { orgId, id }: SystemAccount,
  { label, expiresAt }: { label: string; expiresAt: number | null },
): Promise<NewKey> {
  // Not a UUIDv7: a public key must not reveal when it was created.
  const publicKey = randomUUID();
  const secret = randomSecret("sgn_sa_");
  const times = { createdAt: deps.clock(), expiresAt, revokedAt: null, lastUsedAt: null };
  const key: SystemAccountKey = { publicKey, label, ...times };
  const sealed = deps.encryption.seal(Buffer.from(secret), secretContext(orgId, publicKey));
  await insertKey(tx, { orgId, id }, key, sealed);
  return { key, secret };
}

/** @param name trimmed */
export const isAccountName = (name: string): boolean =>
  name !== "" && [...name].length <= 100 && !/\p{Cc}/u.test(name);

function requireName(name: string): string {
  const trimmed = name.trim();
  if (!isAccountName(trimmed))
    throw new InvalidSystemAccount("invalid-name", "a name has 1 to 100 plain characters");
  return trimmed;
}

async function requireApplication(tx: Db, orgId: string, id: string): Promise<void> {
  if (!(await findApplication(tx, orgId, id)))
    throw new InvalidSystemAccount("unknown-application", "there is no such application");
}

/** Locks the account until the transaction ends. */
export async function lockedSystemAccount(
  tx: Db,
  orgId: string,
  id: string,
): Promise<SystemAccount | undefined> {
  return (await lockSystemAccount(tx, { orgId, id })) ? findSystemAccount(tx, orgId, id) : undefined;
}

async function requireAccount(tx: Db, orgId: string, id: string): Promise<SystemAccount> {
  const account = await lockedSystemAccount(tx, orgId, id);
  if (!account) throw new InvalidSystemAccount("unknown-account", "there is no such system account");
  return account;
}

const recordAct = (
  tx: Db,
  deps: SystemAccountDeps,
  account: Act & { readonly id: string },
  action: AuditEvent["action"],
  details?: AuditEvent["details"],
): Promise<void> => {
  const event = { ...auditFields(account, deps.clock()), action, target: account.id, details };
  return recordChange(tx, deps, "system-account", event);
};
