/** Where `.ci/run` installs what interop tests need of PyPI, npm, Maven, Go, Rust, Debian and Keycloak, outside the checkout so that it is kept. */
import os from "node:os";
import path from "node:path";

export const keptFolder = (of: "python" | "npm" | "maven" | "go" | "rust" | "debian" | "keycloak"): string =>
  process.env[`SIGNET_INTEROP_${of.toUpperCase()}`] ??
  path.join(process.env["XDG_CACHE_HOME"] ?? path.join(os.homedir(), ".cache"), "signet-interop", of);
