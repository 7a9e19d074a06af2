/** The file of a backup: gzip, and age around it if wanted. */
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { createGunzip, createGzip } from "node:zlib";
import { syncFolder } from "../sync-folder.ts";
import { UnusableBackup } from "./read-backup.ts";

/** Loaded by who encrypts only. */
const age = () => import("age-encryption");

/** age v1 (the specification at C2SP): the first line of the header. */
const AGE_MAGIC = "age-encryption.org/v1\n";
/** Characters: far more than a row can have. */
const MAX_LINE = 64 * 1024 * 1024;
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

/** @throws Error for what is none */
export async function requireRecipients(recipients: readonly string[]): Promise<void> {
  const { Encrypter } = await age();
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
}

/**
 * Writes a new file, readable by its owner only. On failure there is none.
 * @param recipients age's public keys; none: it isn't encrypted
 * @throws when it is there already
 */
export async function writeBackupFile<T>(
  path: string,
  recipients: readonly string[],
  work: (write: (text: string) => Promise<void>) => Promise<T>,
): Promise<T> {
  const file = await open(path, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EEXIST"
      ? new Error(`${path} is there already: a backup never replaces a file`)
      : error;
  });
  try {
    const gzip = createGzip();
    const end = writeAll(file, await encrypted(gzip, recipients));
    const write = async (text: string) => {
      if (!gzip.write(text)) await Promise.race([once(gzip, "drain"), end]);
    };
    const result = await Promise.race([
      work(write),
      end.then(() => Promise.reject(new Error("ended early"))),
    ]);
    gzip.end();
    await end;
    await file.sync();
    await file.close();
    await syncFolder(dirname(path));
    return result;
  } catch (error) {
    await file.close();
    await rm(path, { force: true });
    throw error;
  }
}

async function encrypted(gzip: Readable, recipients: readonly string[]): Promise<Readable> {
  if (recipients.length === 0) return gzip;
  const { Encrypter } = await age();
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  const web = Readable.toWeb(gzip) as unknown as ReadableStream<Uint8Array>;
  return Readable.fromWeb((await encrypter.encrypt(web)) as never);
}

async function writeAll(file: FileHandle, from: Readable): Promise<void> {
  for await (const chunk of from) await file.writeFile(chunk as Buffer);
}

/**
 * The lines of a backup.
 * @param identities age's secret keys
 * @throws UnusableBackup
 */
export async function* readBackupFile(path: string, identities: readonly string[]): AsyncGenerator<string> {
  const source = await opened(path, identities);
  const gunzip = createGunzip();
  source.on("error", (error) => gunzip.destroy(error));
  source.pipe(gunzip);
  try {
    yield* linesOf(gunzip.setEncoding("utf8"));
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}

/** @throws UnusableBackup for what gzip or age find wrong */
async function* linesOf(text: Readable): AsyncGenerator<string> {
  const chunks = text[Symbol.asyncIterator]() as AsyncIterator<string>;
  // In pieces: put together at each of them, a long line would be copied as often as it has some.
  let pieces: string[] = [];
  let length = 0;
  for (;;) {
    const { value, done } = await chunks.next().catch(() => {
      throw new UnusableBackup("the backup is damaged or cut off");
    });
    if (done) break;
    const [first = "", ...others] = value.split("\n");
    pieces.push(first);
    length += first.length;
    const last = others.pop();
    if (last !== undefined) {
      yield pieces.join("");
      yield* others;
      pieces = [last];
      length = last.length;
    }
    if (length > MAX_LINE) throw new UnusableBackup("a line of the backup is too long");
  }
  if (length > 0) yield pieces.join("");
}

async function opened(path: string, identities: readonly string[]): Promise<Readable> {
  const start = await firstBytes(path);
  if (start.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC)) return createReadStream(path);
  if (start.toString("latin1") !== AGE_MAGIC) throw new UnusableBackup("it is no backup of Signet");
  if (identities.length === 0)
    throw new UnusableBackup("the backup is encrypted: name the file of its age identity with --identity");
  const { Decrypter } = await age();
  const decrypter = new Decrypter();
  for (const identity of identities) decrypter.addIdentity(identity);
  const web = Readable.toWeb(createReadStream(path)) as unknown as ReadableStream<Uint8Array>;
  try {
    return Readable.fromWeb((await decrypter.decrypt(web)) as never);
  } catch {
    throw new UnusableBackup("none of the age identities decrypts the backup");
  }
}

async function firstBytes(path: string): Promise<Buffer> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(AGE_MAGIC.length), 0, AGE_MAGIC.length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
