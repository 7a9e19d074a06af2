/** Letting a device in: an administrator makes a code, shown once, which whoever has it may enrol one device with. */
import { newUuid } from "@signet/protocol/uuid";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import type { Clock } from "../../../core/clock.ts";
import {
  type AttestationPolicy,
  attestationPolicies,
  type EnrollmentCode,
} from "../../../core/devices/device.ts";
import { findDevice } from "../../../core/devices/devices.store.ts";
import { isOrganisationName } from "../../../core/organisations/organisation.ts";
import type { Database } from "../../../db/open.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { insertCode, withdrawCodeRow } from "../enroll/enrollment-code.store.ts";
import { codeHashOf, newEnrollmentCode } from "../enroll/enrollment-code.ts";

export interface RegisterDeviceDeps {
  readonly database: Database;
  readonly clock: Clock;
}

export interface DeviceRegistration {
  readonly orgId: string;
  /** Of the device: 1 to 100 characters; its id when left out. */
  readonly name?: string;
  /** Only tightens the organisation's own policy: `none` asks for nothing more, and is meant when it is left out. */
  readonly attestation?: string;
  /** 600 to 604800; a day when left out. */
  readonly expiresInSeconds?: number;
  /** Id of a device of the same organisation, which is revoked when the new one is enrolled. */
  readonly replaces?: string;
  /** As the audit log has it. */
  readonly actor: string;
  readonly address?: string;
}

export interface RegisteredDevice {
  /** Shown once: its hash alone is kept. */
  readonly code: string;
  /** Of the code. */
  readonly id: string;
  /** Milliseconds. */
  readonly expiresAt: number;
}

const DAY_SECONDS = 86_400;
const SHORTEST_SECONDS = 600;
const LONGEST_SECONDS = 7 * DAY_SECONDS;

/** @throws CodedError 400 invalid_request, naming what is wrong */
export async function registerDevice(
  deps: RegisterDeviceDeps,
  input: DeviceRegistration,
): Promise<RegisteredDevice> {
  const { orgId, actor, address } = input;
  const replaces = input.replaces?.trim().toLowerCase();
  const seconds = lifetimeOf(input.expiresInSeconds);
  const asked = { name: nameOf(input.name), attestation: policyOf(input.attestation) };
  const code = newEnrollmentCode();
  const now = deps.clock();
  const row: EnrollmentCode = {
    orgId,
    id: newUuid(),
    ...asked,
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
      throw wrong("replaces must be the id of a device of this organisation");
    await insertCode(tx, row, codeHashOf(code) ?? "");
    await recordAuditEvent(tx, {
      orgId,
      at: now,
      actor,
      action: "enrollment-code.created",
      target: row.id,
      ...(address === undefined ? {} : { address }),
      details: {
        attestation: row.attestation,
        ...(row.name === null ? {} : { name: row.name }),
        ...(replaces === undefined ? {} : { replaces }),
      },
    });
  });
  return { code, id: row.id, expiresAt: row.expiresAt };
}

/** @param id of the code. @returns false when the organisation has none such that could still be used */
export async function withdrawCode(
  deps: RegisterDeviceDeps,
  { orgId, id, actor, address }: { orgId: string; id: string; actor: string; address?: string },
): Promise<boolean> {
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    if (!(await withdrawCodeRow(tx, { orgId, id, now }))) return false;
    const where = address === undefined ? {} : { address };
    await recordAuditEvent(tx, {
      orgId,
      at: now,
      actor,
      action: "enrollment-code.withdrawn",
      target: id,
      ...where,
    });
    return true;
  });
}

function nameOf(name: string | undefined): string | null {
  if (name === undefined) return null;
  if (!isOrganisationName(name)) throw wrong("name must be 1 to 100 plain characters");
  return name.trim();
}

function policyOf(attestation = "none"): AttestationPolicy {
  const known = attestationPolicies.find((policy) => policy === attestation);
  if (!known) throw wrong(`attestation must be one of ${attestationPolicies.join(", ")}`);
  return known;
}

function lifetimeOf(seconds = DAY_SECONDS): number {
  if (!Number.isInteger(seconds) || seconds < SHORTEST_SECONDS || seconds > LONGEST_SECONDS)
    throw wrong("a code is good for 10 minutes at least and 7 days at most");
  return seconds;
}

const wrong = (description: string) => new CodedError(400, "invalid_request", description);
