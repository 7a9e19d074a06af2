/** Signatures that were never made, as a ledger has them. */
import { formatEntry } from "../../../packages/protocol/src/ledger/entry.ts";

const SPREAD = 400;

/** @param index from 0; hashes are near each other in the index when their numbers are, so that filling it takes minutes */
export function ledgerInput(index: number): { readonly sha256: string; readonly entry: string } {
  const bytes = Buffer.alloc(32, 7);
  bytes.writeUInt32BE(index * SPREAD, 0);
  const sha256 = bytes.toString("base64url");
  const kid = "bench".padEnd(43, "k");
  const named = {
    kid,
    time: 1_800_000_000 + Math.floor(index / 100),
    signer: "local",
    approvals: [],
  } as const;
  return { sha256, entry: formatEntry({ v: 1, kind: "access_token", sha256, ...named }) };
}
