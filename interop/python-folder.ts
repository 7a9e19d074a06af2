/** Where `.ci/run` installs the Python programs that interop tests need, outside the checkout so that it is kept. */
import os from "node:os";
import path from "node:path";

export const pythonFolder =
  process.env["SIGNET_INTEROP_PYTHON"] ??
  path.join(process.env["XDG_CACHE_HOME"] ?? path.join(os.homedir(), ".cache"), "signet-interop", "python");
