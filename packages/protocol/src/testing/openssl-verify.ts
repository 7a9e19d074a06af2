/** What OpenSSL says of a path, to compare our checks with. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestCertificate } from "./test-certificate.ts";

/**
 * Whether `openssl verify` accepts it now.
 * @param path the leaf first, with or without the root
 */
export function opensslAccepts(path: readonly TestCertificate[], roots: readonly TestCertificate[]): boolean {
  const folder = mkdtempSync(join(tmpdir(), "signet-verify-"));
  try {
    const [leaf, ...issuers] = path;
    const given = (name: string, certificates: readonly TestCertificate[]) => {
      const file = join(folder, name);
      writeFileSync(file, certificates.map(({ pem }) => pem).join(""));
      return file;
    };
    const untrusted = issuers.length > 0 ? ["-untrusted", given("issuers.pem", issuers)] : [];
    const options = ["verify", "-CAfile", given("roots.pem", roots), ...untrusted];
    execFileSync("openssl", [...options, given("leaf.pem", leaf ? [leaf] : [])], { stdio: "pipe" });
    return true;
  } catch (error) {
    // Else a machine without OpenSSL would count as one that refuses everything.
    if ((error as { status?: unknown }).status === 2) return false;
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
