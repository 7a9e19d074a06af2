/** Who may own, and write to, a file with a secret and its folder: whoever can replace the file decides what is used as a key. */

/** Of `fs.stat`. */
export interface FileOwnership {
  readonly uid: number;
  readonly mode: number;
}

const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/**
 * @param user the effective user of this process (`process.geteuid`); undefined on systems without one, where nothing is checked
 * @returns what is wrong with a file or folder, and how to mend it; undefined if it belongs to the user or root and nobody else
 * can write to it
 */
export function ownershipFault(
  name: string,
  { uid, mode }: FileOwnership,
  user: number | undefined,
): string | undefined {
  if (user === undefined) return undefined;
  if (uid !== user && uid !== 0)
    return `${name} belongs to another user (uid ${uid}): make the user of this program its owner (chown)`;
  // In root's sticky folders, as /tmp, nobody can replace a file of another user (chmod(1), "restricted deletion flag").
  const isProtected = uid === 0 && (mode & STICKY) !== 0;
  if ((mode & WRITABLE_BY_OTHERS) === 0 || isProtected) return undefined;
  return `others can write to ${name}: chmod go-w ${name}`;
}
