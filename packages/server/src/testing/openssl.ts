/** The machine's OpenSSL as an independent verifier of certificates, CRLs and OCSP responses. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";

export interface Openssl {
  /** @param args words; `@name` stands for the file of that name. @returns what it printed, complaints first, whatever its exit code */
  (...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }>;
  /** A file for the commands. */
  write(name: string, content: string | Buffer): Promise<void>;
  read(name: string): Promise<Buffer>;
  remove(): Promise<void>;
}

export async function openssl(): Promise<Openssl> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-openssl-"));
  const fileOf = (name: string) => path.join(folder, name);
  const run = async (...args: readonly string[]) => {
    const words = args.map((word) => (word.startsWith("@") ? fileOf(word.slice(1)) : word));
    try {
      const { stdout, stderr } = await promisify(execFile)("openssl", words, { cwd: folder });
      return { code: 0, text: `${stderr}${stdout}` };
    } catch (error) {
      const {
        code,
        stdout = "",
        stderr = "",
      } = error as { code?: unknown; stdout?: string; stderr?: string };
      if (typeof code !== "number") throw error;
      return { code, text: `${stderr}${stdout}` };
    }
  };
  return Object.assign(run, {
    write: (name: string, content: string | Buffer) => writeFile(fileOf(name), content),
    read: (name: string) => readFile(fileOf(name)),
    remove: () => rm(folder, { recursive: true, force: true }),
  });
}
