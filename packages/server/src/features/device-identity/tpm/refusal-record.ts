/** The audit log hears of TPMs that were refused under a good code: whoever gave it out wants to know why nothing came of it. */
import { recordStrangersEvent } from "../../../core/audit/unauthenticated-events.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Database } from "../../../db/open.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { shownHash } from "../ek-trust/shown-hash.ts";

export interface RefusedAttestation {
  readonly orgId: string;
  readonly address: string;
  /** SHA-256 of the EK's SPKI, base64url: what `signet ek-allow` lists. */
  readonly ekHash: string;
  /** Id of the enrollment code. */
  readonly code?: string;
}

/** @throws what `work` throws; CodedErrors once they are in the log */
export async function withRefusalRecorded<Result>(
  deps: { readonly database: Database; readonly clock: Clock },
  { orgId, address, ekHash, code }: RefusedAttestation,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CodedError)
      await recordStrangersEvent(deps, {
        orgId,
        actor: "anonymous",
        action: "device-attestation.refused",
        address,
        ...(code === undefined ? {} : { target: code }),
        details: { error: error.code, ek: shownHash(ekHash) },
      });
    throw error;
  }
}
