/** Client secrets: several may be active at once, so that rotation needs no downtime. */

import { constantTimeEqual, randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { newUuid } from "@signet/protocol/uuid";
import { boundTo, type Database, type Db } from "../../db/open.ts";
import { auditFields } from "../audit/audit.store.ts";
import type { Clock } from "../clock.ts";
import { lastUses } from "../last-uses.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import type { Application, ClientSecret } from "./application.ts";
import { publishToCopies, requireOwn } from "./application-copies.ts";
import {
  expireOtherSecrets,
  findApplication,
  insertClientSecret,
  revokeClientSecret,
  touchClientSecret,
} from "./applications.store.ts";
import { createApplication, type NewApplication } from "./applications.ts";

export interface NewClientSecret {
  readonly orgId: string;
  readonly applicationId: string;
  readonly label: string;
  /** Milliseconds; null for a secret that does not expire. */
  readonly expiresAt: number | null;
  /** Expires the other secrets after so many seconds; default: they stay active until revoked. */
  readonly expireOthersInSeconds?: number;
  readonly actor: string;
  readonly address?: string;
}

/** At most 100 characters without invisible ones, which could make two labels look alike. */
export const isSecretLabel = (label: string): boolean =>
  [...label].length <= 100 && !/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(label);

/** @returns the record, and the plaintext, which is not stored */
export async function createClientSecret(
  deps: RecordDeps,
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
    await requireOwnSecrets(tx, input);
    await insertClientSecret(tx, input, secret);
    if (input.expireOthersInSeconds !== undefined)
      await expireOtherSecrets(tx, { ...input, id: secret.id }, now + input.expireOthersInSeconds * 1000);
    await recordChange(tx, deps, "application", {
      ...auditFields(input, now),
      action: "client-secret.created",
      target: input.applicationId,
      details: { secretId: secret.id, label: secret.label },
    });
    await publishToCopies(tx, deps, { orgId: input.orgId, id: input.applicationId });
  });
  return { secret, plaintext };
}

/** A copy authenticates with its home's. @throws ForeignApplication */
async function requireOwnSecrets(
  tx: Db,
  { orgId, applicationId }: Pick<NewClientSecret, "orgId" | "applicationId">,
): Promise<void> {
  const application = await findApplication(tx, orgId, applicationId);
  if (application) requireOwn(application);
}

/** Creates an application together with its first secret. @throws InvalidApplication naming every fault */
export function createWithSecret(
  deps: RecordDeps,
  { secretLabel, ...input }: NewApplication & { readonly secretLabel: string },
): Promise<{ application: Application; plaintext: string }> {
  return deps.database.transaction(async (tx) => {
    const inside = { ...deps, database: boundTo(deps.database, tx) };
    const application = await createApplication(inside, input);
    const wanted = { ...input, applicationId: application.id, label: secretLabel, expiresAt: null };
    const { secret, plaintext } = await createClientSecret(inside, wanted);
    return { application: { ...application, secrets: [secret] }, plaintext };
  });
}

/** @returns false when there is no such active secret */
export async function revokeSecret(
  deps: RecordDeps,
  input: { orgId: string; applicationId: string; id: string; actor: string; address?: string },
): Promise<boolean> {
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    if (!(await revokeClientSecret(tx, input, now))) return false;
    await recordChange(tx, deps, "application", {
      ...auditFields(input, now),
      action: "client-secret.revoked",
      target: input.applicationId,
      details: { secretId: input.id },
    });
    await publishToCopies(tx, deps, { orgId: input.orgId, id: input.applicationId });
    return true;
  });
}

/**
 * Ends a rotation: revokes all active secrets except the newest. A secret created concurrently is not touched.
 * @returns the number of revoked secrets
 */
export async function revokeOldSecrets(
  deps: RecordDeps,
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
 * Finds the active secret that matches. All secrets are compared whichever matches, so that the time reveals neither
 * which one it was nor how many there are.
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

/** Records when each client secret was last used. */
export interface SecretUse {
  note(application: Application, secret: ClientSecret): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}

export function secretUse(deps: {
  database: Database;
  clock: Clock;
  onError(error: unknown): void;
}): SecretUse {
  const { flush, close, note } = lastUses<{ orgId: string; applicationId: string; id: string; at: number }>({
    write: (use) => touchClientSecret(deps.database.query, use, use.at),
    onError: deps.onError,
  });
  return {
    note: ({ orgId: at, homeOrgId, id: applicationId }, { id }) => {
      const orgId = homeOrgId ?? at;
      note(`${orgId}/${id}`, { orgId, applicationId, id, at: deps.clock() });
    },
    flush,
    close,
  };
}
