/** Records TPMs that are refused under a valid code in the audit log, so that administrators see why an enrolment failed. */
import { recordUnauthenticatedEvent } from "../../../core/audit/unauthenticated-events.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Database } from "../../../db/open.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { displayHash } from "../ek-trust/shown-hash.ts";

export interface AttestationContext {
  readonly orgId: string;
  readonly address: string;
  /** SHA-256 of the EK's SPKI, base64url, as `signet ek-allow` prints it. */
  readonly ekHash: string;
  /** Id of the enrolment code. */
  readonly code?: string;
}

/** @throws what `work` throws, after recording a CodedError */
export async function recordingRefusals<Result>(
  deps: { readonly database: Database; readonly clock: Clock },
  { orgId, address, ekHash, code }: AttestationContext,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CodedError)
      await recordUnauthenticatedEvent(deps, {
        orgId,
        actor: "anonymous",
        action: "device-attestation.refused",
        address,
        ...(code === undefined ? {} : { target: code }),
        details: { error: error.code, ek: displayHash(ekHash) },
      });
    throw error;
  }
}
