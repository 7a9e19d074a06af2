/** Looks for a private key wherever it could have got to: in files, in a database, in the memory of a process. */
import type { KeyObject } from "node:crypto";
import { closeSync, existsSync, openSync, readFileSync, readSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

export interface Needle {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Characters of base64 that stand in the first line of a PEM file; the rest stands in the second. */
const FIRST_LINE = 16;

/**
 * The private number of an EC key on P-256, in every way that it could be written. In PKCS#8 it begins at byte 36, so that
 * base64 of the whole has base64 of the number in it.
 */
export function encodingsOf(privateKey: KeyObject): Needle[] {
  const secret = privateNumber(privateKey);
  return [{ name: "raw", bytes: secret }, ...writtenAs(secret)];
}

export function privateNumber(privateKey: KeyObject): Buffer {
  return Buffer.from(privateKey.export({ format: "jwk" }).d ?? "", "base64url");
}

/** 32 bytes, as text. */
export function writtenAs(secret: Buffer): Needle[] {
  const hex = secret.toString("hex");
  const whole = secret.subarray(0, 30);
  const texts = [
    ["hex", hex],
    ["HEX", hex.toUpperCase()],
    ...(["base64", "base64url"] as const).flatMap((form) => [
      [form, whole.toString(form).slice(0, FIRST_LINE)],
      [form, whole.toString(form).slice(FIRST_LINE)],
    ]),
  ];
  return texts.map(([name = "", text = ""]) => ({ name, bytes: Buffer.from(text) }));
}

/** @returns the names of those that are in it */
export function found(needles: readonly Needle[], hay: Buffer | string): string[] {
  const bytes = typeof hay === "string" ? Buffer.from(hay) : hay;
  return needles.filter((needle) => bytes.includes(needle.bytes)).map(({ name }) => name);
}

/** Every file of a folder and what is below it. */
export async function filesIn(folder: string): Promise<Array<{ name: string; bytes: Buffer }>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(
    files.map(async ({ parentPath, name }) => {
      const bytes = await readFile(path.join(parentPath, name));
      return { name: path.relative(folder, path.join(parentPath, name)), bytes };
    }),
  );
}

/** Linux shows it to who started the process. */
export const canReadMemory = (pid: number): boolean => existsSync(`/proc/${pid}/mem`);

const PART = 16 * 1024 * 1024;
/** So that what lies across the end of a part is found in the next one. */
const OVERLAP = 256;

/** All the memory that the process can write to, part by part. */
export function* memoryOf(pid: number): Generator<Buffer> {
  const memory = openSync(`/proc/${pid}/mem`, "r");
  const part = Buffer.alloc(PART);
  try {
    for (const [, from = "", to = ""] of readFileSync(`/proc/${pid}/maps`, "utf8").matchAll(
      /^([0-9a-f]+)-([0-9a-f]+) rw/gm,
    )) {
      const end = Number.parseInt(to, 16);
      for (let at = Number.parseInt(from, 16); at < end; at += PART - OVERLAP) {
        const read = readPart(memory, part, { at, length: Math.min(PART, end - at) });
        yield part.subarray(0, read);
      }
    }
  } finally {
    closeSync(memory);
  }
}

/** A region may have gone meanwhile, or be a device's. */
function readPart(memory: number, part: Buffer, { at, length }: { at: number; length: number }): number {
  try {
    return readSync(memory, part, 0, length, at);
  } catch {
    return 0;
  }
}
