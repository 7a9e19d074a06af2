import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { parseEnv, promisify } from "node:util";
import { systemPath } from "../../e2e/support/programs.ts";
import { missingNpmClients } from "../../interop/clients/node-program.ts";
import { keycloakPrograms, missingKeycloak, runKeycloak } from "../../interop/keycloak/keycloak.ts";
import { followGuide, type GuideFolder, startNodeGuide } from "../support/guide.ts";
import { stopWith } from "../support/programs.ts";
import type { SetUpGuide } from "../support/set-up.ts";

/** As it is unpacked, no program is marked as one. */
const kcadm = `bash '${path.join(keycloakPrograms, "kcadm.sh")}'`;

/** The README's own commands, one after the other. */
async function setUpRealm({ folder }: GuideFolder, { calls }: SetUpGuide): Promise<void> {
  const env = { PATH: systemPath(), HOME: folder };
  for (const call of calls)
    await promisify(execFile)("sh", ["-euc", `set -a; . ./.env; ${call.replace(/^kcadm\.sh/, kcadm)}`], {
      cwd: folder,
      env,
    });
}

followGuide({
  name: "keycloak",
  missing: missingKeycloak() || missingNpmClients(),
  broker: "localhost:8180",
  timeoutMs: 15 * 60_000,
  start: async (at, setUp) => {
    const environment = parseEnv(await readFile(path.join(at.folder, ".env"), "utf8"));
    const keycloak = await runKeycloak(`http://localhost:${at.brokerPort}`, environment);
    return stopWith(keycloak, async () => {
      await setUpRealm(at, setUp);
      return startNodeGuide(at);
    });
  },
});
