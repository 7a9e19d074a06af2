/** Making system accounts, replacing their keys, granting them applications. */
import { randomUUID } from "node:crypto";
import { randomSecret } from "@signet/protocol/hash";
import { newUuid } from "@signet/protocol/uuid";
import type { ChangeFeed } from "../../db/change-feed.ts";
import type { Database, Db } from "../../db/open.ts";
import { findApplication } from "../applications/store.ts";
import { type AuditEvent, recordAuditEvent } from "../audit/store.ts";
import type { Clock } from "../clock.ts";
import type { Encryption } from "../encryption/encryption.ts";
import {
  deletePermission,
  deleteSystemAccount,
  expireOtherKeys,
  findSystemAccount,
  insertKey,
  insertPermission,
  insertSystemAccount,
  revokeKey,
  updateSystemAccount,
} from "./store.ts";
import type { SystemAccount, SystemAccountKey } from "./system-account.ts";

export interface SystemAccountDeps {
  readonly database: Database;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly encryption: Encryption;
}

export class InvalidSystemAccount extends Error {
  readonly code: "invalid-name" | "unknown-application" | "unknown-account" | "invalid-expiry";
  constructor(code: InvalidSystemAccount["code"], message: string) {
    super(message);
    this.name = "InvalidSystemAccount";
    this.code = code;
  }
}

/** What its making tells once: the secret is not shown again. */
export interface NewKey {
  readonly key: SystemAccountKey;
  readonly secret: string;
}

export interface NewSystemAccount {
  readonly orgId: string;
  readonly applicationId: string;
  readonly name: string;
  readonly isAdministrator: boolean;
  readonly requiresStrictSignature: boolean;
  readonly actor: string;
}

/** @throws InvalidSystemAccount */
export async function createSystemAccount(
  deps: SystemAccountDeps,
  input: NewSystemAccount,
): Promise<NewKey & { account: SystemAccount }> {
  const { orgId, applicationId, actor } = input;
  const name = requireName(input.name);
  const now = deps.clock();
  const account: SystemAccount = {
    orgId,
    id: newUuid(),
    applicationId,
    name,
    isAdministrator: input.isAdministrator,
    requiresStrictSignature: input.requiresStrictSignature,
    permissions: [],
    createdAt: now,
    createdBy: actor,
    updatedAt: now,
    disabledAt: null,
    lastUsedAt: null,
    version: 1,
  };
  return deps.database.transaction(async (tx) => {
    await requireApplication(tx, orgId, applicationId);
    await insertSystemAccount(tx, account);
    const made = await addKey(tx, deps, account, { label: "first", expiresAt: null });
    const details = { applicationId, administrator: account.isAdministrator };
    await note(tx, deps, { orgId, actor, action: "system-account.created", target: account.id, details });
    return { account, ...made };
  });
}

export interface KeyRotation {
  readonly orgId: string;
  readonly id: string;
  readonly label: string;
  /** Milliseconds; null for a key that does not expire. */
  readonly expiresAt: number | null;
  /** The other keys end after so many seconds; left out, they go on until they are revoked. */
  readonly expireOthersInSeconds?: number;
  readonly actor: string;
}

/** A new pair of keys beside the old ones, which work on. @throws InvalidSystemAccount */
export async function rotateSystemAccountKey(deps: SystemAccountDeps, input: KeyRotation): Promise<NewKey> {
  const { orgId, id, actor } = input;
  const now = deps.clock();
  if (input.expiresAt !== null && input.expiresAt <= now)
    throw new InvalidSystemAccount("invalid-expiry", "the expiry date has passed");
  return deps.database.transaction(async (tx) => {
    const account = await requireAccount(tx, orgId, id);
    const made = await addKey(tx, deps, account, { label: input.label, expiresAt: input.expiresAt });
    const { publicKey } = made.key;
    if (input.expireOthersInSeconds !== undefined)
      await expireOtherKeys(
        tx,
        { orgId, accountId: id, publicKey },
        now + input.expireOthersInSeconds * 1000,
      );
    const details = { publicKey };
    await note(tx, deps, { orgId, actor, action: "system-account.key-created", target: id, details });
    return made;
  });
}

/** @returns false when the account has no such living key */
export async function revokeSystemAccountKey(
  deps: SystemAccountDeps,
  input: { orgId: string; id: string; publicKey: string; actor: string },
): Promise<boolean> {
  const { orgId, id, publicKey, actor } = input;
  return deps.database.transaction(async (tx) => {
    if (!(await revokeKey(tx, { orgId, accountId: id, publicKey }, deps.clock()))) return false;
    const details = { publicKey };
    await note(tx, deps, { orgId, actor, action: "system-account.key-revoked", target: id, details });
    return true;
  });
}

export interface SystemAccountChange {
  readonly orgId: string;
  readonly id: string;
  readonly name?: string;
  readonly requiresStrictSignature?: boolean;
  readonly disabled?: boolean;
  readonly actor: string;
}

/** @returns false when there is no such account. @throws InvalidSystemAccount */
export async function changeSystemAccount(
  deps: SystemAccountDeps,
  input: SystemAccountChange,
): Promise<boolean> {
  const { orgId, id, actor, disabled } = input;
  const now = deps.clock();
  const change = {
    ...(input.name === undefined ? {} : { name: requireName(input.name) }),
    ...(input.requiresStrictSignature === undefined
      ? {}
      : { requiresStrictSignature: input.requiresStrictSignature }),
    ...(disabled === undefined ? {} : { disabledAt: disabled ? now : null }),
  };
  const verb = disabled === undefined ? "changed" : disabled ? "disabled" : "enabled";
  return deps.database.transaction(async (tx) => {
    if (!(await updateSystemAccount(tx, { orgId, id }, change, now))) return false;
    await note(tx, deps, { orgId, actor, action: `system-account.${verb}`, target: id });
    return true;
  });
}

/** Access to another application of the organisation. @returns false when it was there. @throws InvalidSystemAccount */
export async function grantApplication(
  deps: SystemAccountDeps,
  input: { orgId: string; id: string; applicationId: string; actor: string },
): Promise<boolean> {
  const { orgId, id, applicationId, actor } = input;
  return deps.database.transaction(async (tx) => {
    await requireAccount(tx, orgId, id);
    await requireApplication(tx, orgId, applicationId);
    const granted = { orgId, accountId: id, applicationId, by: actor, now: deps.clock() };
    if (!(await insertPermission(tx, granted))) return false;
    const details = { applicationId };
    await note(tx, deps, { orgId, actor, action: "system-account.permission-granted", target: id, details });
    return true;
  });
}

/** @returns false when it was not granted */
export async function withdrawApplication(
  deps: SystemAccountDeps,
  input: { orgId: string; id: string; applicationId: string; actor: string },
): Promise<boolean> {
  const { orgId, id, applicationId, actor } = input;
  return deps.database.transaction(async (tx) => {
    if (!(await deletePermission(tx, { orgId, accountId: id, applicationId }))) return false;
    const details = { applicationId };
    await note(tx, deps, {
      orgId,
      actor,
      action: "system-account.permission-withdrawn",
      target: id,
      details,
    });
    return true;
  });
}

/** @returns false when there is no such account */
export async function removeSystemAccount(
  deps: SystemAccountDeps,
  input: { orgId: string; id: string; actor: string },
): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    if (!(await deleteSystemAccount(tx, input))) return false;
    const { orgId, id, actor } = input;
    await note(tx, deps, { orgId, actor, action: "system-account.deleted", target: id });
    return true;
  });
}

/** Names the row that a sealed secret belongs to. */
export const secretRow = (orgId: string, publicKey: string) => `system-account-key|${orgId}|${publicKey}`;

async function addKey(
  tx: Db,
  deps: SystemAccountDeps,
  { orgId, id }: SystemAccount,
  { label, expiresAt }: { label: string; expiresAt: number | null },
): Promise<NewKey> {
  // Strangers see the public key: it must not tell when the account was made.
  const publicKey = randomUUID();
  const secret = randomSecret("sgn_sa_");
  const made = { publicKey, label, createdAt: deps.clock(), expiresAt };
  const key: SystemAccountKey = { ...made, revokedAt: null, lastUsedAt: null };
  const sealed = deps.encryption.seal(Buffer.from(secret), secretRow(orgId, publicKey));
  await insertKey(tx, { orgId, id }, key, sealed);
  return { key, secret };
}

function requireName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === "" || [...trimmed].length > 100 || /\p{Cc}/u.test(trimmed))
    throw new InvalidSystemAccount("invalid-name", "a name has 1 to 100 plain characters");
  return trimmed;
}

async function requireApplication(tx: Db, orgId: string, id: string): Promise<void> {
  if (!(await findApplication(tx, orgId, id)))
    throw new InvalidSystemAccount("unknown-application", "there is no such application");
}

async function requireAccount(tx: Db, orgId: string, id: string): Promise<SystemAccount> {
  const account = await findSystemAccount(tx, orgId, id);
  if (!account) throw new InvalidSystemAccount("unknown-account", "there is no such system account");
  return account;
}

/** Written with the change, and told to every node. */
async function note(tx: Db, deps: SystemAccountDeps, event: Omit<AuditEvent, "at">): Promise<void> {
  await recordAuditEvent(tx, { ...event, at: deps.clock() });
  await deps.changes.publish(tx, { orgId: event.orgId, topic: "system-account" });
}
