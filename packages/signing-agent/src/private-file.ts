/** Files that hold a secret: refused when anybody but their owner may read them, made so that nobody else can. */
import { open, readFile } from "node:fs/promises";

export class UnsafeFile extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UnsafeFile";
  }
}

const GROUP_AND_OTHERS = 0o077;
const MOST_BYTES = 65_536;

/**
 * The text of a file that only its owner may read.
 * @throws UnsafeFile when group or others have any right to it, or it is no plain file of at most 64 KiB
 */
export async function readPrivateFile(path: string): Promise<string> {
  const file = await open(path, "r");
  try {
    // Of the file that is open, not of the name: nobody can put another one there in between.
    const { mode, size } = await file.stat();
    if ((mode & 0o170000) !== 0o100000 || size > MOST_BYTES)
      throw new UnsafeFile(`${path} is no plain file of at most 64 KiB`);
    if ((mode & GROUP_AND_OTHERS) !== 0) {
      const is = (mode & 0o777).toString(8).padStart(4, "0");
      throw new UnsafeFile(`${path} can be read by others (mode ${is}): chmod 600 ${path}`);
    }
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

/** The secret of a file: its first line. @throws UnsafeFile as above, and when it is empty */
export async function readSecretFile(path: string): Promise<string> {
  const [line = ""] = (await readPrivateFile(path)).split(/\r?\n/, 1);
  const secret = line.trim();
  if (secret === "") throw new UnsafeFile(`${path} is empty`);
  return secret;
}

/** Makes a new file with mode 0600. @throws EEXIST when there is one: a key is never written over */
export async function createPrivateFile(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

export const fileExists = (path: string): Promise<boolean> =>
  readFile(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw error;
    },
  );
