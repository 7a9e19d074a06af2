/** The journal's file: what is appended is on disk completely, or not at all. */
import type { open } from "node:fs/promises";
import path from "node:path";
import { syncFolder } from "@signet/cli-runtime/private-file";

export class BrokenJournal extends Error {
  override name = "BrokenJournal";
}

/** The part of a FileHandle that is used. */
type Handle = Pick<Awaited<ReturnType<typeof open>>, "datasync" | "truncate" | "close"> & {
  appendFile(text: Buffer): Promise<void>;
  stat(): Promise<{ readonly size: number; readonly ino: number; readonly dev: number }>;
};
export type OpenFile = (file: string, flags: "a", mode: number) => Promise<Handle>;
export type JournalFile = Awaited<ReturnType<typeof openJournalFile>>;

export async function openJournalFile(file: string, openFile: OpenFile) {
  let handle = await openFile(file, "a", 0o600);
  let bytes = (await handle.stat()).size;
  let isTorn = false;
  await syncFolder(path.dirname(file));

  /** A full disk may have left half a line, which no other line may follow. */
  async function repair(): Promise<void> {
    if (isTorn) await handle.truncate(bytes);
    isTorn = false;
  }

  return {
    /** @throws BrokenJournal when another program wrote to the file; the file system's error when it cannot be written */
    append: async (text: string): Promise<void> => {
      await repair();
      // By an agent in another container with the same disk, for example: two writers would break the chain.
      if ((await handle.stat()).size !== bytes)
        throw new BrokenJournal(`${file} was changed by another program: move it away and send SIGHUP`);
      const added = Buffer.from(text);
      isTorn = true;
      await handle.appendFile(added);
      await handle.datasync();
      isTorn = false;
      bytes += added.length;
    },
    truncate: async (length: number): Promise<void> => {
      await handle.truncate(length);
      bytes = length;
    },
    /** Continues in the file that has the name now. @throws BrokenJournal when it is another one and not empty */
    reopen: async (): Promise<void> => {
      await repair();
      const next = await openFile(file, "a", 0o600);
      const [before, now] = await Promise.all([handle.stat(), next.stat()]);
      const isSame = before.ino === now.ino && before.dev === now.dev;
      if (isSame || now.size > 0) await next.close();
      if (isSame) return;
      if (now.size > 0) throw new BrokenJournal(`${file} is a different file and not empty`);
      await syncFolder(path.dirname(file));
      await handle.close();
      handle = next;
      bytes = 0;
    },
    close: (): Promise<void> => handle.close(),
  };
}
