/** A checkpoint that can be believed: signed by the log, and cosigned by enough of the configured witnesses. */
import { parseSignedCheckpoint, type SignedCheckpoint } from "@signet/protocol/ledger/checkpoint";
import { cosignedAt, isSignedBy, type VerifierKey } from "@signet/protocol/ledger/note";

export interface LedgerKeys {
  readonly log: VerifierKey;
  readonly witnesses: readonly VerifierKey[];
  /** How many of them must have cosigned. */
  readonly quorum: number;
}

/** Between the clocks of a witness and of this machine: a cosignature of the future would never grow old. */
const SKEW_SECONDS = 300;

export type CheckpointFault = "ledger_malformed" | "ledger_signature" | "ledger_not_witnessed";

/** @returns with the time since which enough witnesses have it, in seconds since the epoch */
export function readCheckpoint(
  text: string,
  { log, witnesses, quorum }: LedgerKeys,
  now: number,
): { readonly checkpoint: SignedCheckpoint; readonly witnessedAt: number } | CheckpointFault {
  const checkpoint = parseSignedCheckpoint(text);
  if (checkpoint?.origin !== log.name) return "ledger_malformed";
  if (!isSignedBy(checkpoint.note, log)) return "ledger_signature";
  const times = witnesses
    .flatMap((witness) => cosignedAt(checkpoint.note, witness) ?? [])
    .filter((time) => time <= now / 1000 + SKEW_SECONDS)
    .sort((one, other) => other - one);
  const witnessedAt = times[quorum - 1];
  return witnessedAt === undefined ? "ledger_not_witnessed" : { checkpoint, witnessedAt };
}
