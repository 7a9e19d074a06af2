/** Gives a file its name, unless that is taken: a rename would replace whatever came meanwhile. */
import { constants, copyFile, link, open, rm } from "node:fs/promises";

/** Of file systems without hard links (link(2)). */
const NO_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

/** `from` may stay where it is. @throws Error with a sentence when there is something at `to` */
export async function putInPlace(from: string, to: string, linkFile: typeof link = link): Promise<void> {
  const put = linkFile(from, to).catch((error: NodeJS.ErrnoException) => {
    if (!NO_LINKS.includes(error.code ?? "")) throw error;
    return copyNew(from, to);
  });
  await put.catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
    throw new Error(
      `something has come to ${to} meanwhile, and is left as it is: restore into an empty folder`,
    );
  });
}

async function copyNew(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL);
    const file = await open(to, "r+");
    await file.sync().finally(() => file.close());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") await rm(to, { force: true });
    throw error;
  }
}
