/** Nonces for DPoP proofs (RFC 9449 §8): derived from time and key, so that nothing is stored and every node accepts them. */

import type { Clock } from "../clock.ts";
import type { KeyRing } from "../encryption/key-ring.ts";
import { macs } from "../encryption/macs.ts";

export interface DpopNonces {
  /** The one to use now. */
  current(orgId: string): string;
  /** Whether it is of this time slot or of the last one. */
  accepts(orgId: string, nonce: string): boolean;
}

const SLOT_MS = 150_000;
const MAX_REMEMBERED = 10_000;

/** @param keys derived from the master keys for this purpose only */
export function dpopNonces(keys: KeyRing, clock: Clock): DpopNonces {
  const hashes = macs(keys);
  /** Every answer has one: each is computed once. */
  const remembered = new Map<string, { readonly slot: number; readonly nonce: string }>();
  const slotNow = () => Math.floor(clock() / SLOT_MS);
  const textOf = (orgId: string, slot: number) => `${orgId}|${slot}`;
  return {
    current: (orgId) => {
      const slot = slotNow();
      const known = remembered.get(orgId);
      if (known?.slot === slot) return known.nonce;
      const nonce = hashes.of(textOf(orgId, slot));
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      remembered.set(orgId, { slot, nonce });
      return nonce;
    },
    accepts: (orgId, nonce) => {
      const slot = slotNow();
      return [slot, slot - 1].some((one) => hashes.isOf(textOf(orgId, one), nonce));
    },
  };
}
