/** Inclusion in the Merkle tree of RFC 6962 §2.1. */
import { concatBytes, sha256 } from "./bytes.ts";

export const HASH_BYTES = 32;

export const leafHash = (entry: Uint8Array): Promise<Uint8Array<ArrayBuffer>> =>
  sha256(concatBytes(Uint8Array.of(0), entry));

const nodeHash = (left: Uint8Array, right: Uint8Array): Promise<Uint8Array<ArrayBuffer>> =>
  sha256(concatBytes(Uint8Array.of(1), left, right));

/** The root that a proof leads to; undefined when it can't belong to the leaf and the tree (RFC 9162 §2.1.3.2). */
export async function rootOfInclusion(
  leaf: Uint8Array<ArrayBuffer>,
  { index, size, proof }: { index: number; size: number; proof: readonly Uint8Array[] },
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (index >= size) return undefined;
  let [node, last] = [index, size - 1];
  let root = leaf;
  for (const sibling of proof) {
    if (last === 0) return undefined;
    if (node % 2 === 1 || node === last) {
      root = await nodeHash(sibling, root);
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)];
    } else root = await nodeHash(root, sibling);
    [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  }
  return last === 0 ? root : undefined;
}
