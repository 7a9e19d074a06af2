/** Writes the audit log of an organisation that is about to be deleted to a file: the last thing that is left of it. */
import { randomBytes } from "node:crypto";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readFrom } from "../../../db/old-reads.ts";
import type { Db } from "../../../db/open.ts";
import { exportAuditEvents, lineFormats } from "../../audit/export/export.ts";
import { syncFolder } from "../../sync-folder.ts";

/** Where housekeeping keeps them. */
export const keptLogOf = (dataDir: string, orgId: string): string =>
  join(dataDir, "deleted-organisations", `${orgId}.jsonl`);

/** A log that is written, and not yet in its place: whoever begins the deletion puts it there. */
export interface KeptLog {
  keep(): Promise<void>;
  /** Nothing happens once it is kept. */
  drop(): Promise<void>;
}

/**
 * For housekeeping, whose own folder it is. Two nodes that share it write a file each.
 * @throws when it can't be written
 */
export async function keepAuditLog(db: Db, dataDir: string, orgId: string): Promise<KeptLog> {
  const path = keptLogOf(dataDir, orgId);
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const part = `${path}.${randomBytes(8).toString("hex")}.part`;
  const log = await openAuditLog(part);
  await log.write(db, orgId);
  return {
    keep: async () => {
      await rename(part, path);
      await syncFolder(folder);
      // Of rounds that were interrupted.
      const left = (await readdir(folder)).filter(
        (name) => name.startsWith(`${orgId}.`) && name.endsWith(".part"),
      );
      for (const name of left) await rm(join(folder, name), { force: true });
    },
    drop: () => rm(part, { force: true }),
  };
}

/** A new file, before anything is in it. */
export interface OpenLog {
  /** On the disk when this returns. @throws when it can't be written: then there is no file */
  write(db: Db, orgId: string): Promise<void>;
  drop(): Promise<void>;
}

/** JSON lines with the positions of the chain, readable by their owner only. @throws when it is there, or can't be made */
export async function openAuditLog(path: string): Promise<OpenLog> {
  const file = await open(path, "wx", 0o600);
  const drop = async () => {
    await file.close();
    await rm(path, { force: true });
  };
  return {
    write: async (db, orgId) => {
      try {
        for await (const event of exportAuditEvents(readFrom(db), orgId, {}))
          await file.write(lineFormats.jsonl.line(event));
        await file.sync();
        await file.close();
        await syncFolder(dirname(path));
      } catch (error) {
        await drop();
        throw error;
      }
    },
    drop,
  };
}
