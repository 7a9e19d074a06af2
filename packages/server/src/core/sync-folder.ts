/** A file that was made, renamed or removed is so after a power failure too once its folder is on the disk (fsync(2)). */
import { open } from "node:fs/promises";

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
