/** The Merkle tree of RFC 6962 §2.1 (SHA-256), kept as the tiles of C2SP tlog-tiles: 256 hashes each, eight levels a tile. */
import { createHash, hash } from "node:crypto";

/** Hashes in a full tile. */
export const TILE_WIDTH = 256;
export const HASH_BYTES = 32;

export interface Tile {
  readonly level: number;
  readonly index: number;
  /** 1 to 256 hashes side by side. */
  readonly hashes: Buffer;
}

/** The tiles at the right edge that are not full, by level: all that an append needs to know of the tree. */
export interface TreeEdge {
  readonly size: number;
  readonly partial: readonly Buffer[];
}

/**
 * Hashes of one tile.
 * @param width how many of them the tree of the proof has; the answer may have more
 */
export type ReadTile = (level: number, index: number, width: number) => Promise<Uint8Array>;

export const emptyEdge: TreeEdge = { size: 0, partial: [] };

export const leafHash = (entry: Uint8Array): Buffer =>
  createHash("sha256").update(Buffer.of(0)).update(entry).digest();

export const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer =>
  createHash("sha256").update(Buffer.of(1)).update(left).update(right).digest();

/** Of the tree without entries. */
export const emptyRoot = (): Buffer => hash("sha256", "", "buffer");

/** @returns the tiles that changed, each whole, and the new edge */
export function appendLeaves(
  { size, partial }: TreeEdge,
  leaves: readonly Uint8Array[],
): { readonly edge: TreeEdge; readonly tiles: readonly Tile[] } {
  const tiles: Tile[] = [];
  const edge: Buffer[] = [];
  let added: readonly Uint8Array[] = leaves;
  let before = size;
  for (let level = 0; added.length > 0 || level < partial.length; level++) {
    const full: Buffer[] = [];
    let rest = partial[level] ?? Buffer.alloc(0);
    let index = Math.floor(before / TILE_WIDTH);
    if (added.length > 0) {
      const all = Buffer.concat([rest, ...added]);
      const whole = TILE_WIDTH * HASH_BYTES;
      for (let at = 0; at + whole <= all.length; at += whole) {
        const hashes = all.subarray(at, at + whole);
        tiles.push({ level, index: index++, hashes });
        full.push(foldHashes(hashes));
      }
      rest = all.subarray(all.length - (all.length % whole));
      if (rest.length > 0) tiles.push({ level, index, hashes: rest });
    }
    edge.push(rest);
    added = full;
    before = Math.floor(before / TILE_WIDTH);
  }
  while (edge.at(-1)?.length === 0) edge.pop();
  return { edge: { size: size + leaves.length, partial: edge }, tiles };
}

/** The root of the tree: its complete subtrees from the right, each joined with what is right of it. */
export function rootOf({ partial }: TreeEdge): Buffer {
  let root: Buffer | undefined;
  for (const hashes of partial) {
    let end = hashes.length / HASH_BYTES;
    for (let width = 1; end > 0; width *= 2) {
      if ((end / width) % 2 < 1) continue;
      const subtree = foldHashes(hashes.subarray((end - width) * HASH_BYTES, end * HASH_BYTES));
      root = root ? nodeHash(subtree, root) : subtree;
      end -= width;
    }
  }
  return root ?? emptyRoot();
}

/** The width of a tile in a tree of this size; 0 when it has none. */
export function tileWidth(size: number, level: number, index: number): number {
  const atLevel = Math.floor(size / TILE_WIDTH ** level);
  return Math.max(0, Math.min(TILE_WIDTH, atLevel - index * TILE_WIDTH));
}

/** Of 2^k hashes. */
function foldHashes(hashes: Uint8Array): Buffer {
  let row: Uint8Array[] = [];
  for (let at = 0; at < hashes.length; at += HASH_BYTES) row.push(hashes.subarray(at, at + HASH_BYTES));
  while (row.length > 1) {
    const above: Uint8Array[] = [];
    for (let at = 0; at < row.length; at += 2)
      above.push(nodeHash(row[at] ?? new Uint8Array(), row[at + 1] ?? new Uint8Array()));
    row = above;
  }
  return Buffer.from(row[0] ?? new Uint8Array());
}

/** The inclusion proof of a leaf (RFC 6962 §2.1.1), from the leaf's sibling to the root's child. */
export function inclusionProof(read: ReadTile, index: number, size: number): Promise<Buffer[]> {
  if (index < 0 || index >= size) throw new RangeError("the tree has no such leaf");
  const ranges: Range[] = [];
  let [start, end] = [0, size];
  while (end - start > 1) {
    const middle = start + splitOf(end - start);
    const isLeft = index < middle;
    ranges.push(isLeft ? [middle, end] : [start, middle]);
    [start, end] = isLeft ? [start, middle] : [middle, end];
  }
  return hashesOf(read, ranges.reverse(), size);
}

/** The proof that the tree of one size is the beginning of a larger one (RFC 6962 §2.1.2). Empty from size 0, and between equals. */
export function consistencyProof(read: ReadTile, from: number, size: number): Promise<Buffer[]> {
  if (from < 0 || from > size) throw new RangeError("the tree is smaller");
  const ranges: Range[] = [];
  let [start, end] = [0, size];
  if (from === 0) return Promise.resolve([]);
  while (end > from) {
    const middle = start + splitOf(end - start);
    const isLeft = from <= middle;
    ranges.push(isLeft ? [middle, end] : [start, middle]);
    [start, end] = isLeft ? [start, middle] : [middle, end];
  }
  // The old tree is a subtree of its own: its root is what the verifier has already.
  if (start > 0) ranges.push([start, end]);
  return hashesOf(read, ranges.reverse(), size);
}

type Range = readonly [start: number, end: number];

/** The largest power of two below a number of at least 2. */
function splitOf(count: number): number {
  let split = 1;
  while (split * 2 < count) split *= 2;
  return split;
}

async function hashesOf(read: ReadTile, ranges: readonly Range[], size: number): Promise<Buffer[]> {
  const known = new Map<string, Promise<Uint8Array>>();
  const once = (level: number, index: number) => {
    const name = `${level} ${index}`;
    const tile = known.get(name) ?? read(level, index, tileWidth(size, level, index));
    known.set(name, tile);
    return tile;
  };
  return Promise.all(ranges.map((range) => rangeHash(once, range)));
}

async function rangeHash(
  read: (level: number, index: number) => Promise<Uint8Array>,
  [start, end]: Range,
): Promise<Buffer> {
  const count = end - start;
  const split = count === 1 ? 1 : splitOf(count);
  if (count !== 1 && split * 2 !== count) {
    const halves = [rangeHash(read, [start, start + split]), rangeHash(read, [start + split, end])] as const;
    const [left, right] = await Promise.all(halves);
    return nodeHash(left, right);
  }
  // A complete subtree: some neighbours within one tile.
  let level = 0;
  let unit = 1;
  while (unit * TILE_WIDTH <= count) [level, unit] = [level + 1, unit * TILE_WIDTH];
  const first = start / unit;
  const at = first % TILE_WIDTH;
  const tile = await read(level, Math.floor(first / TILE_WIDTH));
  const hashes = tile.subarray(at * HASH_BYTES, (at + count / unit) * HASH_BYTES);
  if (hashes.length !== (count / unit) * HASH_BYTES) throw new RangeError("a tile is too short");
  return foldHashes(hashes);
}

/** The root that an inclusion proof leads to; undefined when it cannot belong to the leaf and the tree (RFC 9162 §2.1.3.2). */
export function rootOfInclusion(
  leaf: Uint8Array,
  index: number,
  size: number,
  proof: readonly Uint8Array[],
): Buffer | undefined {
  if (!Number.isSafeInteger(index) || index < 0 || index >= size) return undefined;
  let [node, last] = [index, size - 1];
  let root: Buffer = Buffer.from(leaf);
  for (const sibling of proof) {
    if (last === 0) return undefined;
    if (node % 2 === 1 || node === last) {
      root = nodeHash(sibling, root);
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)];
    } else root = nodeHash(root, sibling);
    [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  }
  return last === 0 ? root : undefined;
}

/** Whether the tree of one size and root is the beginning of another (RFC 9162 §2.1.4.2). */
export function isConsistent(
  from: { readonly size: number; readonly root: Uint8Array },
  to: { readonly size: number; readonly root: Uint8Array },
  proof: readonly Uint8Array[],
): boolean {
  if (from.size > to.size || proof.length > 63) return false;
  if (from.size === 0) return proof.length === 0;
  if (from.size === to.size) return proof.length === 0 && Buffer.compare(from.root, to.root) === 0;
  let [node, last] = [from.size - 1, to.size - 1];
  while (node % 2 === 1) [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  // Where the old tree is complete, its root is the first hash.
  const [first, ...rest] = node === 0 ? [from.root, ...proof] : proof;
  if (!first) return false;
  let [old, now]: [Buffer, Buffer] = [Buffer.from(first), Buffer.from(first)];
  for (const sibling of rest) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      [old, now] = [nodeHash(sibling, old), nodeHash(sibling, now)];
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)];
    } else now = nodeHash(now, sibling);
    [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  }
  return last === 0 && old.equals(from.root) && now.equals(to.root);
}
