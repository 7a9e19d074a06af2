/** Client secrets: several may be active at once, so that one can be replaced while the other still works. */

import { constantTimeEqual, randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { newUuid } from "@signet/protocol/uuid";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { Application, ClientSecret } from "./application.ts";
import {
  expireOtherSecrets,
  findApplication,
  insertClientSecret,
  revokeClientSecret,
} from "./applications.store.ts";
import type { ApplicationDeps } from "./applications.ts";

export interface NewClientSecret {
  readonly orgId: string;
  readonly applicationId: string;
  readonly label: string;
  /** Milliseconds; null for a secret that does not expire. */
  readonly expiresAt: number | null;
  /** The others end after so many seconds; left out, they go on until they are revoked. */
  readonly expireOthersInSeconds?: number;
  readonly actor: string;
  readonly address?: string;
}

/** At most 100 characters, none of them invisible: a label tells secrets apart. */
export const isSecretLabel = (label: string): boolean =>
  [...label].length <= 100 && !/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(label);

/** @returns the record and, this once, the plaintext */
export async function createClientSecret(
  deps: ApplicationDeps,
  input: NewClientSecret,
): Promise<{ secret: ClientSecret; plaintext: string }> {
  const now = deps.clock();
  const plaintext = randomSecret("sgn_cs_");
  const secret: ClientSecret = {
    id: newUuid(),
    label: input.label,
    hash: sha256Base64url(plaintext),
    hint: plaintext.slice(-4),
    createdAt: now,
    expiresAt: input.expiresAt,
    revokedAt: null,
    lastUsedAt: null,
  };
  await deps.database.transaction(async (tx) => {
    await insertClientSecret(tx, input, secret);
    if (input.expireOthersInSeconds !== undefined)
      await expireOtherSecrets(tx, { ...input, id: secret.id }, now + input.expireOthersInSeconds * 1000);
    await recordAuditEvent(tx, {
      orgId: input.orgId,
      at: now,
      actor: input.actor,
      action: "client-secret.created",
      target: input.applicationId,
      address: input.address,
      details: { secretId: secret.id, label: secret.label },
    });
    await deps.changes.publish(tx, { orgId: input.orgId, topic: "application" });
  });
  return { secret, plaintext };
}

/** @returns false when there is no such active secret; the application's other secrets are left alone */
export async function revokeSecret(
  deps: ApplicationDeps,
  input: { orgId: string; applicationId: string; id: string; actor: string; address?: string },
): Promise<boolean> {
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    if (!(await revokeClientSecret(tx, input, now))) return false;
    await recordAuditEvent(tx, {
      orgId: input.orgId,
      at: now,
      actor: input.actor,
      action: "client-secret.revoked",
      target: input.applicationId,
      address: input.address,
      details: { secretId: input.id },
    });
    await deps.changes.publish(tx, { orgId: input.orgId, topic: "application" });
    return true;
  });
}

/**
 * Ends a rotation: all active secrets but the newest. One that is made at the same time is not touched.
 * @returns how many were revoked
 */
export async function revokeOldSecrets(
  deps: ApplicationDeps,
  input: { orgId: string; applicationId: string; actor: string; address?: string },
): Promise<number> {
  const { orgId, applicationId } = input;
  const application = await findApplication(deps.database.query, orgId, applicationId);
  const active = (application?.secrets ?? []).filter((secret) => isActive(secret, deps.clock()));
  const newest = active.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)).at(-1);
  let revoked = 0;
  for (const { id } of active) {
    if (id !== newest?.id && (await revokeSecret(deps, { ...input, id }))) revoked++;
  }
  return revoked;
}

/**
 * The active secret that the presented text is. All of them are compared, whichever fits: the time tells neither which
 * one it was nor how many there are that do not fit.
 */
export function matchClientSecret(
  application: Application,
  presented: string,
  now: number,
): ClientSecret | undefined {
  const hash = sha256Base64url(presented);
  let match: ClientSecret | undefined;
  for (const secret of application.secrets) {
    if (constantTimeEqual(secret.hash, hash) && isActive(secret, now)) match = secret;
  }
  return match;
}

export function isActive(secret: ClientSecret, now: number): boolean {
  return secret.revokedAt === null && (secret.expiresAt === null || secret.expiresAt > now);
}
