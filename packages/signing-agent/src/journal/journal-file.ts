/** The journal's file: what is added is on the disk whole, or not there at all. */
import { open } from "node:fs/promises";
import path from "node:path";
import { BrokenJournal } from "./journal-lock.ts";

/** What is used of a FileHandle. */
interface Handle {
  appendFile(text: Buffer): Promise<void>;
  datasync(): Promise<void>;
  truncate(length: number): Promise<void>;
  stat(): Promise<{ readonly size: number; readonly ino: number; readonly dev: number }>;
  close(): Promise<void>;
}
export type OpenFile = (file: string, flags: "a", mode: number) => Promise<Handle>;

export interface JournalFile {
  /** @throws BrokenJournal when somebody else wrote to the file; what the disk says when it takes nothing */
  add(text: string): Promise<void>;
  /** Cuts off what stands behind these bytes. */
  keep(bytes: number): Promise<void>;
  /** Goes on in the file that has the name now. @throws BrokenJournal when that is another one with something in it */
  reopen(): Promise<void>;
  close(): Promise<void>;
}

export async function openJournalFile(file: string, openFile: OpenFile): Promise<JournalFile> {
  let handle = await openFile(file, "a", 0o600);
  let bytes = (await handle.stat()).size;
  let isTorn = false;
  await syncFolder(file);

  /** Half a line stands at the end when the disk was full, and no other may follow it. */
  async function mend(): Promise<void> {
    if (isTorn) await handle.truncate(bytes);
    isTorn = false;
  }

  return {
    add: async (text) => {
      await mend();
      // By an agent in another container with the same disk: two would break the chain.
      if ((await handle.stat()).size !== bytes)
        throw new BrokenJournal(`${file} was changed by somebody else: move it away and send SIGHUP`);
      const added = Buffer.from(text);
      isTorn = true;
      await handle.appendFile(added);
      await handle.datasync();
      isTorn = false;
      bytes += added.length;
    },
    keep: async (kept) => {
      await handle.truncate(kept);
      bytes = kept;
    },
    reopen: async () => {
      await mend();
      const next = await openFile(file, "a", 0o600);
      const [was, is] = await Promise.all([handle.stat(), next.stat()]);
      const isSame = was.ino === is.ino && was.dev === is.dev;
      if (isSame || is.size > 0) await next.close();
      if (isSame) return;
      if (is.size > 0) throw new BrokenJournal(`${file} is another file, and not empty`);
      await syncFolder(file);
      await handle.close();
      handle = next;
      bytes = 0;
    },
    close: () => handle.close(),
  };
}

/** A file whose name is not on the disk yet would be gone with the power. */
async function syncFolder(file: string): Promise<void> {
  const folder = await open(path.dirname(file), "r");
  await folder.sync().finally(() => folder.close());
}
