/** Writes the audit log of an organisation that is about to be deleted to a file: the last thing that is left of it. */
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Db } from "../../../db/open.ts";
import { exportAuditEvents, lineFormats } from "../../audit/export/export.ts";

/** Where housekeeping keeps them. */
export const keptLogOf = (dataDir: string, orgId: string): string =>
  join(dataDir, "deleted-organisations", `${orgId}.jsonl`);

/**
 * For housekeeping, whose own folder it is: what an interrupted round left there is replaced, as nothing is deleted before the log
 * is whole.
 * @throws when it can't be written
 */
export async function keepAuditLog(db: Db, dataDir: string, orgId: string): Promise<void> {
  const path = keptLogOf(dataDir, orgId);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await write(db, orgId, `${path}.part`, "w");
  await rename(`${path}.part`, path);
}

/** To a file that an operator names, and that must be new. @throws when it is there, or can't be written: then there is none */
export async function writeAuditLog(db: Db, orgId: string, path: string): Promise<void> {
  await write(db, orgId, path, "wx");
}

/** JSON lines with the positions of the chain, readable by their owner only, on the disk when this returns. */
async function write(db: Db, orgId: string, path: string, flags: "w" | "wx"): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    for await (const event of exportAuditEvents(db, orgId, {}))
      await file.write(lineFormats.jsonl.line(event));
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}
