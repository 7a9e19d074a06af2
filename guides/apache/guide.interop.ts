import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { missingProgram } from "../../e2e/support/programs.ts";
import { startProgram } from "../../interop/program.ts";
import { followGuide, type GuideFolder } from "../support/guide.ts";
import { startBehind } from "../support/programs.ts";

const missing =
  missingProgram("apache2", ["-v"]) ||
  (!existsSync("/usr/lib/apache2/modules/mod_auth_openidc.so") && "mod_auth_openidc is not installed");

async function startApache({ folder, port }: GuideFolder) {
  const script = 'set -a; . ./.env; exec apache2 -X -d "$PWD" -f httpd.conf';
  const { output, stop } = await startProgram("Apache", ["sh", "-c", script], {
    ...{ port, folder, signal: "SIGTERM" },
  });
  const log = path.join(folder, "error.log");
  return { output: () => `${output()}${existsSync(log) ? readFileSync(log, "utf8") : ""}`, stop };
}

followGuide({
  name: "apache",
  missing,
  start: (at) => startBehind(at, () => startApache(at)),
  whileSignedIn: async ({ person, address }) => {
    assert.equal((await person.open(`${address}/secure/editors`)).status, 200);
    assert.equal((await person.open(`${address}/secure/admins`)).status, 401, "without the role");
  },
});
