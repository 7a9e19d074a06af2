/** Creates and withdraws enrolment codes: an administrator registers a device, the code enrols it once. */

import { newUuid } from "@signet/protocol/uuid";
import { type Act, auditFields, recordAuditEvent } from "../../../core/audit/audit.store.ts";
import type { CoreDeps } from "../../../core/core-deps.ts";
import {
  type AttestationPolicy,
  attestationPolicies,
  type EnrolmentCode,
} from "../../../core/devices/device.ts";
import { findDevice } from "../../../core/devices/devices.store.ts";
import { isRecordName } from "../../../core/organisations/organisation.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { insertCode, withdrawCodeRow } from "../enrol/enrolment-code.store.ts";
import { enrolmentCodeHash, newEnrolmentCode } from "../enrol/enrolment-code.ts";

export interface DeviceRegistration extends Act {
  /** The device's name, 1 to 100 characters; default: its id. */
  readonly name?: string;
  /** Can only be stricter than the organisation's policy; default: `none`. */
  readonly attestation?: string;
  /** 600 to 604800; default: a day. */
  readonly expiresInSeconds?: number;
  /** The id of a device to revoke when the new one is enrolled. */
  readonly replaces?: string;
}

const DAY_SECONDS = 86_400;
const MIN_LIFETIME_SECONDS = 600;
const MAX_LIFETIME_SECONDS = 7 * DAY_SECONDS;

/**
 * @returns the code, shown once: only its hash is stored; its id, and its expiry in milliseconds
 * @throws CodedError 400 invalid_request, that names the member
 */
export async function registerDevice(
  deps: CoreDeps,
  input: DeviceRegistration,
): Promise<{ readonly code: string } & Pick<EnrolmentCode, "id" | "expiresAt">> {
  const { orgId, actor } = input;
  const replaces = input.replaces?.trim().toLowerCase();
  const seconds = requireLifetime(input.expiresInSeconds);
  const requested = { name: requireName(input.name), attestation: requirePolicy(input.attestation) };
  const code = newEnrolmentCode();
  const now = deps.clock();
  const row: EnrolmentCode = {
    orgId,
    id: newUuid(),
    ...requested,
    replaces: replaces ?? null,
    createdAt: now,
    createdBy: actor,
    expiresAt: now + seconds * 1000,
    usedAt: null,
    deviceId: null,
    withdrawnAt: null,
  };
  await deps.database.transaction(async (tx) => {
    if (replaces !== undefined && !(await findDevice(tx, orgId, replaces)))
      throw invalid("replaces must be the id of a device of this organisation");
    await insertCode(tx, row, enrolmentCodeHash(code) ?? "");
    await recordAuditEvent(tx, {
      ...auditFields(input, now),
      action: "enrollment-code.created",
      target: row.id,
      details: {
        attestation: row.attestation,
        ...(row.name === null ? {} : { name: row.name }),
        ...(replaces === undefined ? {} : { replaces }),
      },
    });
  });
  return { code, id: row.id, expiresAt: row.expiresAt };
}

/** @param id of the code. @returns false when there is no usable code with this id */
export async function withdrawCode(
  { database, clock }: CoreDeps,
  { id, ...acting }: Act & { readonly id: string },
): Promise<boolean> {
  const now = clock();
  return database.transaction(async (tx) => {
    if (!(await withdrawCodeRow(tx, { orgId: acting.orgId, id, now }))) return false;
    await recordAuditEvent(tx, {
      ...auditFields(acting, now),
      action: "enrollment-code.withdrawn",
      target: id,
    });
    return true;
  });
}

function requireName(name: string | undefined): string | null {
  if (name === undefined) return null;
  if (!isRecordName(name)) throw invalid("name must be 1 to 100 plain characters");
  return name.trim();
}

function requirePolicy(attestation = "none"): AttestationPolicy {
  const known = attestationPolicies.find((policy) => policy === attestation);
  if (!known) throw invalid(`attestation must be one of ${attestationPolicies.join(", ")}`);
  return known;
}

function requireLifetime(seconds = DAY_SECONDS): number {
  if (!Number.isInteger(seconds) || seconds < MIN_LIFETIME_SECONDS || seconds > MAX_LIFETIME_SECONDS)
    throw invalid("the lifetime of a code must be 10 minutes to 7 days");
  return seconds;
}

const invalid = (description: string) => new CodedError(400, "invalid_request", description);
