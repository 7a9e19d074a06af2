/**
 * Nonces, each for one signature (RFC 9591 §4.1: a nonce that is used twice gives the share away). Each is a file of its own, which is
 * renamed before its nonce is read: whoever renames it has it, once, whatever happens to the process then. And none outlives the start of
 * the agent that made it: a folder that was restored from a backup has no nonce that can be used.
 */
import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, unlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { PRIVATE, syncFolder } from "@signet/cli-runtime/private-file";
import { newNonces } from "@signet/protocol/threshold/signing";
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

export type NonceStock = ReturnType<typeof nonceStock>;

/** The nonce is not there: it was used, or made by an earlier start or another machine. */
export class NonceGone extends Error {
  override name = "NonceGone";
}

export function nonceStock(sealed: SealedFolder, boot: Boot) {
  const folder = path.join(sealed.folder, FOLDER, boot.id);
  const nameOf = (hiding: string) => `${FOLDER}/${boot.count}/${boot.id}/${hiding}`;
  const fileOf = (hiding: string, state: "unused" | "used") => path.join(folder, `${hiding}.${state}`);
  return {
    /** New ones, on disk before they are published. */
    make: async (secret: Secret, count: number): Promise<Commitment[]> => {
      const made: Commitment[] = [];
      for (let index = 0; index < count; index++) {
        const { nonces, commitment } = newNonces(secret.signingShare);
        const { hiding } = commitment;
        const kept = { hiding: toText(nonces.hiding), binding: toText(nonces.binding), commitment };
        await writeFile(fileOf(hiding, "unused"), sealed.seal(nameOf(hiding), kept), {
          mode: PRIVATE,
          flag: "wx",
        });
        made.push(commitment);
      }
      return made;
    },
    /**
     * Takes nonces out of the stock for ever, durably before they are returned; one sync for all of them.
     * @returns by hiding commitment, those that were there
     */
    take: async (
      hidings: readonly string[],
    ): Promise<ReadonlyMap<string, Nonces & { readonly published: Commitment }>> => {
      const renamed: string[] = [];
      for (const hiding of hidings) {
        // The name comes from the service.
        if (!/^[A-Za-z0-9_-]{43}$/.test(hiding) || renamed.includes(hiding)) continue;
        try {
          await rename(fileOf(hiding, "unused"), fileOf(hiding, "used"));
          renamed.push(hiding);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
        }
      }
      if (renamed.length > 0) await syncFolder(folder);
      const taken = new Map<string, Nonces & { readonly published: Commitment }>();
      for (const hiding of renamed) {
        const text = await readFile(fileOf(hiding, "used"), "utf8");
        await unlink(fileOf(hiding, "used"));
        const kept = sealed.unseal(nameOf(hiding), text) as Commitment & { readonly commitment: Commitment };
        const nonces = { hiding: toBytes(kept.hiding), binding: toBytes(kept.binding) };
        taken.set(hiding, { ...nonces, published: kept.commitment });
      }
      return taken;
    },
    /** Unused ones. */
    count: async (): Promise<number> =>
      (await readdir(folder)).filter((name) => name.endsWith(".unused")).length,
  };
}

const toText = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
const toBytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64url"));
