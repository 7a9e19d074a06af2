/** The Rust program around the printed main.rs, built with the libraries that `.ci/run` has compiled. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { keptFolder } from "../kept-folder.ts";

const source = path.join(import.meta.dirname, "rust");
const kept = keptFolder("rust");

/** `.ci/run` keeps what it has built of. */
export function missingRust(): string | false {
  const built = path.join(kept, "built.toml");
  const wanted = readFileSync(path.join(source, "Cargo.toml"), "utf8");
  const isBuilt = existsSync(built) && readFileSync(built, "utf8") === wanted;
  return !isBuilt && "the Rust libraries are not built";
}

/** Puts the printed lines into the program: the client, the sign-in and the callback are paragraphs. @returns the program built */
export async function buildRustProgram(folder: string): Promise<string> {
  const printed = (await readFile(path.join(folder, "main.rs"), "utf8")).split("\n\n");
  const ours = await readFile(path.join(source, "src/main.rs"), "utf8");
  const program = ours.replaceAll(/^ *\/\/=.*$/gm, () => printed.shift() ?? "");
  await mkdir(path.join(folder, "src"));
  await writeFile(path.join(folder, "src/main.rs"), program);
  await copyFile(path.join(source, "Cargo.toml"), path.join(folder, "Cargo.toml"));
  await copyFile(path.join(kept, "Cargo.lock"), path.join(folder, "Cargo.lock"));
  const target = path.join(kept, "target");
  const env = { ...process.env, CARGO_TARGET_DIR: target, CARGO_TERM_COLOR: "never" };
  await promisify(execFile)("cargo", ["build", "-q", "--locked", "--offline"], { cwd: folder, env });
  return path.join(target, "debug/interop-rust");
}
