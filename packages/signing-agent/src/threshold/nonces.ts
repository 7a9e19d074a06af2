/**
 * Nonces, each for one signature (RFC 9591 §4.1: a nonce that is used twice gives the share away). They are made in blocks, each of which is
 * a file, which is renamed, durably, before one of its nonces is read: whoever renames it has them, once, whatever happens to the process
 * then; what is left of an open block is in memory alone, and goes with the process. And none outlives the start of the agent that made it: a
 * folder that was restored from a backup has no nonce that can be used.
 */
import { randomBytes } from "node:crypto";
import { mkdir, readFile, rename, rm, unlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { PRIVATE, syncFolder } from "@signet/cli-runtime/private-file";
import type { FrostSigner } from "./frost-signer.ts";
import type { SealedFolder } from "./sealed-folder.ts";

export interface Boot {
  /** How often the agent has been started. */
  readonly count: number;
  /** Random, of this start. */
  readonly id: string;
}

const BOOT_FILE = "boot";
const FOLDER = "nonces";

/** Counts this start, durably, and destroys what earlier starts left. @param atLeast for an agent that was restored from a backup */
export async function countBoot(sealed: SealedFolder, atLeast = 0): Promise<Boot> {
  const before = (await sealed.read(BOOT_FILE)) as { readonly count: number } | undefined;
  const boot = {
    count: Math.max(before?.count ?? 0, atLeast) + 1,
    id: randomBytes(16).toString("base64url"),
  };
  await sealed.write(BOOT_FILE, { count: boot.count });
  await rm(path.join(sealed.folder, FOLDER), { recursive: true, force: true });
  await mkdir(path.join(sealed.folder, FOLDER, boot.id), { recursive: true, mode: 0o700 });
  return boot;
}

interface Secret {
  readonly signingShare: Uint8Array;
}

/** Scalars. */
export interface Nonces {
  readonly hiding: Uint8Array;
  readonly binding: Uint8Array;
}

export interface Commitment {
  readonly hiding: string;
  readonly binding: string;
}

type TakenNonces = Nonces & { readonly published: Commitment };

export type NonceStock = ReturnType<typeof nonceStock>;

/** Nonces of a file: one sync of the folder is for so many. */
const BLOCK = 16;

/** Nonces that are off the disk before they are asked for. */
const AHEAD = 48;

/** As a block's file has them. */
interface KeptNonces extends Commitment {
  readonly commitment: Commitment;
}

/** Blocks on disk. */
function blockFolder(sealed: SealedFolder, boot: Boot) {
  const folder = path.join(sealed.folder, FOLDER, boot.id);
  const nameOf = (block: string) => `${FOLDER}/${boot.count}/${boot.id}/${block}`;
  const fileOf = (block: string, state: "unused" | "used") => path.join(folder, `${block}.${state}`);
  return {
    /** @returns its name */
    keep: async (made: readonly KeptNonces[]): Promise<string> => {
      const block = randomBytes(16).toString("base64url");
      const text = sealed.seal(nameOf(block), made);
      await writeFile(fileOf(block, "unused"), text, { mode: PRIVATE, flag: "wx" });
      return block;
    },
    /** Takes blocks off the disk, durably before they are returned, with one sync; those that are there. */
    take: async (blocks: readonly string[]): Promise<KeptNonces[]> => {
      const renamed: string[] = [];
      for (const block of blocks) {
        try {
          await rename(fileOf(block, "unused"), fileOf(block, "used"));
          renamed.push(block);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
        }
      }
      if (renamed.length > 0) await syncFolder(folder);
      const taken: KeptNonces[] = [];
      for (const block of renamed) {
        const text = await readFile(fileOf(block, "used"), "utf8");
        await unlink(fileOf(block, "used"));
        taken.push(...(sealed.unseal(nameOf(block), text) as KeptNonces[]));
      }
      return taken;
    },
  };
}

export function nonceStock(sealed: SealedFolder, boot: Boot, signer: Pick<FrostSigner, "newNonces">) {
  const disk = blockFolder(sealed, boot);
  /** The block that an unused nonce is in, by its hiding commitment; a nonce that is not here is gone. */
  const blocks = new Map<string, string>();
  /** Of blocks that were taken off the disk. */
  const open = new Map<string, TakenNonces>();
  let last: Promise<void> = Promise.resolve();

  async function openBlocksOf(hidings: readonly string[]): Promise<void> {
    const closed = hidings.flatMap((hiding) => (open.has(hiding) ? [] : (blocks.get(hiding) ?? [])));
    for (const { hiding, binding, commitment } of await disk.take([...new Set(closed)]))
      open.set(commitment.hiding, {
        hiding: toBytes(hiding),
        binding: toBytes(binding),
        published: commitment,
      });
  }

  /** The oldest ones, which the service takes next: no round waits for their sync. */
  async function openAhead(): Promise<void> {
    if (open.size >= AHEAD) return;
    const next = [...blocks.keys()].filter((hiding) => !open.has(hiding)).slice(0, AHEAD);
    await openBlocksOf(next);
  }

  return {
    /** New ones, on disk before they are published. */
    make: async ({ signingShare }: Secret, count: number): Promise<Commitment[]> => {
      const all: Commitment[] = [];
      while (all.length < count) {
        const made = Array.from({ length: Math.min(BLOCK, count - all.length) }, () => {
          const { nonces, commitment } = signer.newNonces(signingShare);
          return { hiding: toText(nonces.hiding), binding: toText(nonces.binding), commitment };
        });
        const block = await disk.keep(made);
        for (const { commitment } of made) blocks.set(commitment.hiding, block);
        all.push(...made.map(({ commitment }) => commitment));
      }
      return all;
    },
    /**
     * Takes nonces out of the stock for ever; that no file has them is durable before they are returned.
     * @returns by hiding commitment, those that were there
     */
    take: async (hidings: readonly string[]): Promise<ReadonlyMap<string, TakenNonces>> => {
      // One after the other: what one call opens, the next one finds open.
      const opened = last.then(() => openBlocksOf(hidings));
      last = opened.catch(() => undefined);
      await opened;
      const taken = new Map<string, TakenNonces>();
      for (const hiding of hidings) {
        const nonces = open.get(hiding);
        if (!nonces) continue;
        open.delete(hiding);
        blocks.delete(hiding);
        taken.set(hiding, nonces);
      }
      last = last.then(openAhead).catch(() => undefined);
      return taken;
    },
  };
}

const toText = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
const toBytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64url"));
