/**
 * Chromium for tests, unpacked from the `@sparticuz/chromium` package, with the libraries and fonts that it brings: a
 * machine needs no Debian package and no root. The package itself would unpack to fixed places in the temporary folder,
 * where processes that start together see each other's half-written files. One library it does not bring: pages over
 * https need the machine's libsqlite3.so.0, without which the browser ends at its first TLS handshake; http does not.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rename, rm, stat, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export type ChromiumInstall = { executablePath: string; environment: Record<string, string> };

const run = promisify(execFile);

// The package unpacks the libraries only where it believes to be in Amazon's cloud.
const pretendedPlatform = "AWS_Lambda_nodejs24.x";
const unpackScript = 'import chromium from "@sparticuz/chromium"; await chromium.executablePath();';

/**
 * Unpacks Chromium unless this user has it already (200 MB, about three seconds), and says how to start it. `npm test`
 * names the folder where it stays for the next run, as what it gives its tests for temporary files goes at the end.
 */
export async function installChromium(): Promise<ChromiumInstall> {
  const kept = process.env["SIGNET_TEST_KEPT_FOLDER"] || os.tmpdir();
  const folder = path.join(kept, `signet-chromium-${packageVersion()}-${process.getuid?.() ?? 0}`);
  if (!(await isInstalled(folder))) await unpack(folder);
  const executablePath = path.join(folder, "chromium");
  const libraries = path.join(folder, "al2023", "lib");
  const environment: Record<string, string> = { FONTCONFIG_FILE: path.join(folder, "fonts.conf") };
  if (await lacksLibraries(executablePath)) environment["LD_LIBRARY_PATH"] = libraries;
  return { executablePath, environment };
}

/** Complete, since the folder got its name only when it was; and ours, as the temporary folder is everybody's. */
async function isInstalled(folder: string): Promise<boolean> {
  try {
    const { uid } = await stat(folder);
    if (process.getuid && uid !== process.getuid()) throw new Error(`${folder} belongs to another user`);
    // A cleaner of temporary folders may have been here.
    for (const file of ["chromium", "fonts.conf", "fonts/fonts", "al2023/lib/libnss3.so"])
      await stat(path.join(folder, file));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/** Unpacks beside `folder` and renames: of several processes at once one wins, and the others use what it made. */
async function unpack(folder: string): Promise<void> {
  const scratch = await mkdtemp(`${folder}-`);
  try {
    const env = { ...process.env, TMPDIR: scratch, AWS_EXECUTION_ENV: pretendedPlatform };
    const cwd = path.dirname(fileURLToPath(import.meta.url));
    await run(process.execPath, ["--input-type=module", "--eval", unpackScript], { cwd, env });
    await writeFile(path.join(scratch, "fonts.conf"), fontConfiguration(folder));
    if (!(await renameOver(scratch, folder))) {
      if (await isInstalled(folder)) return;
      await rm(folder, { recursive: true, force: true });
      if (!(await renameOver(scratch, folder)) && !(await isInstalled(folder)))
        throw new Error(`${folder} cannot be replaced`);
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** @returns false when there is a folder already */
async function renameOver(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

async function lacksLibraries(executablePath: string): Promise<boolean> {
  try {
    return (await run("ldd", [executablePath])).stdout.includes("not found");
  } catch {
    // No ldd to ask: the package's own libraries do on any glibc.
    return true;
  }
}

function packageVersion(): string {
  const manifest = new URL("../package.json", import.meta.resolve("@sparticuz/chromium"));
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}

/**
 * Open Sans, which the package brings, for all text, so that pages look alike everywhere. It brings no fixed-width face:
 * there the machine's is taken, if it has one, and so for writing systems that Open Sans lacks.
 */
function fontConfiguration(folder: string): string {
  const preferred = {
    "sans-serif": ["Open Sans"],
    serif: ["Open Sans"],
    "system-ui": ["Open Sans"],
    monospace: ["DejaVu Sans Mono", "Liberation Mono", "Noto Sans Mono", "Open Sans"],
  };
  const aliases = Object.entries(preferred).map(([family, faces]) => {
    const prefer = faces.map((face) => `<family>${face}</family>`).join("");
    return `<alias binding="same"><family>${family}</family><prefer>${prefer}</prefer></alias>`;
  });
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${folder}/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <dir>/usr/local/share/fonts</dir>
  <cachedir>${folder}/fonts-cache</cachedir>
  ${aliases.join("\n  ")}
</fontconfig>
`;
}
