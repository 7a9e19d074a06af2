/**
 * `npm run interop`: Signet against programs that npm cannot bring (OpenSSL, Go, BoringSSL, GnuTLS …). It installs nothing:
 * what is missing is named and skipped, which is a failure with CI=true; `.ci/run` installs it. `npm run interop --
 * interop/device-tls` runs a folder or a file; what starts with `-` goes to `node --test`. The guides are part of it.
 */
import { rm } from "node:fs/promises";
import path from "node:path";
import { listFiles, repositoryRoot } from "./source-files.ts";
import { runNodeTests } from "./test-run/node-tests.ts";
import { makeTestFolder } from "./test-run/test-folder.ts";
import { selectTests } from "./test-run/test-selection.ts";

const TIMEOUT_MS = 30 * 60_000;

/** @param parameters files and folders, and options of `node --test`. @returns the exit code */
export async function runInterop(parameters: readonly string[]): Promise<number> {
  const patterns = parameters.filter((parameter) => !parameter.startsWith("-"));
  const options = parameters.filter((parameter) => parameter.startsWith("-"));
  const files = selectTests(await listFiles(repositoryRoot, [".interop.ts"]), patterns);
  if (files.length === 0) {
    console.error(`No interop file matches ${patterns.join(" ")}`);
    return 1;
  }
  const folder = await makeTestFolder();
  try {
    return await runNodeTests({
      files,
      options,
      env: { ...process.env, TMPDIR: folder },
      timeoutMs: TIMEOUT_MS,
      skippedFile: path.join(folder, "skipped"),
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) process.exitCode = await runInterop(process.argv.slice(2));
