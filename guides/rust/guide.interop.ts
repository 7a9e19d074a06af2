import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { keptFolder } from "../../interop/kept-folder.ts";
import { startProgram } from "../../interop/program.ts";
import { followGuide } from "../support/guide.ts";

const kept = keptFolder("rust");
const target = path.join(kept, "target");

/** `.ci/run` compiles the libraries, and keeps what it has built of. */
function isBuilt(): boolean {
  const built = path.join(kept, "built.toml");
  const wanted = readFileSync(path.join(import.meta.dirname, "Cargo.toml"), "utf8");
  return existsSync(built) && readFileSync(built, "utf8") === wanted;
}

followGuide({
  name: "rust",
  missing: !isBuilt() && "the Rust libraries are not built",
  start: async ({ folder, port }) => {
    await copyFile(path.join(kept, "Cargo.lock"), path.join(folder, "Cargo.lock"));
    const env = { ...process.env, CARGO_TARGET_DIR: target, CARGO_TERM_COLOR: "never" };
    await promisify(execFile)("cargo", ["build", "-q", "--locked", "--offline"], { cwd: folder, env });
    const script = `set -a; . ./.env; exec ${JSON.stringify(path.join(target, "debug/guide"))}`;
    return startProgram("the Rust program", ["sh", "-c", script], { port, folder });
  },
});
