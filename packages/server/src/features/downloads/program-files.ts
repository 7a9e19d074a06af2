/** The tarballs of the programs that are offered: from the built server, or packed in a clone at the first request. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { Clock } from "../../core/clock.ts";

export interface ProgramFile {
  readonly bytes: Buffer;
  /** Strong entity tag with its quotes (RFC 9110 §8.8.3). */
  readonly etag: string;
}

export interface ProgramFiles {
  /** Whether a file of this version never changes: in a clone it follows the sources. */
  readonly isImmutable: boolean;
  /** @throws when it can't be packed; it is tried again after a minute */
  read(name: string): Promise<ProgramFile>;
}

/** Where the build puts them: `downloads/` beside `main.js`. */
const BUILT = path.join(import.meta.dirname, "..", "..", "downloads");
const PACK_SCRIPT = path.join(
  ...[import.meta.dirname, "..", "..", "..", "..", "..", "scripts", "pack-downloads.ts"],
);
const PACK_TIMEOUT = 120_000;
const RETRY_AFTER = 60_000;

type Folder = {
  readonly path: string;
  remove(): Promise<void>;
};

/** @param pack makes a folder with the tarballs */
export function programFiles(
  names: readonly string[],
  clock: Clock,
  pack: () => Promise<Folder> = packInClone,
): ProgramFiles {
  const isBuilt = existsSync(BUILT);
  const open = isBuilt ? async () => ({ path: BUILT, remove: async () => {} }) : pack;
  let reading: Promise<ReadonlyMap<string, ProgramFile>> | undefined;
  let failedAt = -Infinity;
  return {
    isImmutable: isBuilt,
    async read(name) {
      // Packing takes seconds of a processor: one at a time, and not for each request after a failure.
      if (reading === undefined || clock() - failedAt > RETRY_AFTER) {
        failedAt = Infinity;
        reading = readAll(names, open);
        reading.catch(() => {
          failedAt = clock();
        });
      }
      const file = (await reading).get(name);
      if (!file) throw new Error(`${name} was not packed`);
      return file;
    },
  };
}

async function readAll(names: readonly string[], open: () => Promise<Folder>) {
  const folder = await open();
  try {
    const entries = names.map(async (name) => {
      const bytes = await readFile(path.join(folder.path, name));
      const etag = `"${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}"`;
      return [name, { bytes, etag }] as const;
    });
    return new Map<string, ProgramFile>(await Promise.all(entries));
  } finally {
    await folder.remove();
  }
}

async function packInClone(): Promise<Folder> {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-downloads-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await promisify(execFile)(process.execPath, [PACK_SCRIPT, folder], { timeout: PACK_TIMEOUT });
    return { path: folder, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
