/** deploy/compose.yaml, read by the reference implementation of the Compose specification. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { describe, test } from "node:test";
import { faultsOfNames } from "../../packages/server/src/config/setting-names.ts";
import { repositoryRoot } from "../../scripts/source-files.ts";
import { missingGoProgram } from "../clients/go-programs.ts";
import { keptFolder } from "../kept-folder.ts";

const file = path.join(repositoryRoot, "deploy", "compose.yaml");

interface Project {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}
interface Service {
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets: ReadonlyArray<{ readonly source: string }>;
  readonly ports: ReadonlyArray<{ readonly host_ip: string }>;
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
}

const read = (from: string) =>
  spawnSync(path.join(keptFolder("go"), "compose"), ["-format", "json", from], {
    // It takes relative paths from here, as `docker compose` does from the file.
    cwd: path.dirname(file),
    encoding: "utf8",
    env: {},
  });

describe("the Compose file", { skip: missingGoProgram("compose") }, () => {
  test("is valid, waits for PostgreSQL, and gives the server its secrets as files and nothing else", () => {
    const { status, stdout, stderr } = read(file);
    assert.equal(status, 0, stderr);
    const { services, secrets } = JSON.parse(stdout) as Project;
    const { signet, postgres } = services;
    assert.ok(signet && postgres);
    assert.equal(signet.depends_on?.["postgres"]?.condition, "service_healthy");
    assert.equal(postgres.healthcheck?.test[0], "CMD");
    assert.equal(signet.build?.context, repositoryRoot);
    assert.equal(signet.build?.dockerfile, "deploy/Dockerfile");
    assert.deepEqual(faultsOfNames(signet.environment), []);
    assert.equal(signet.environment["SIGNET_BASE_URL"], "http://localhost:8080");
    for (const setting of ["SIGNET_MASTER_KEY_FILE", "DATABASE_URL_FILE"]) {
      const name = path.basename(signet.environment[setting] ?? "");
      assert.ok(signet.secrets.some(({ source }) => source === name) && secrets[name], setting);
    }
    assert.equal(signet.read_only, true);
    assert.deepEqual(signet.cap_drop, ["ALL"]);
    assert.deepEqual(signet.security_opt, ["no-new-privileges:true"]);
    assert.ok(signet.ports.every(({ host_ip: address }) => address === "127.0.0.1"));
  });

  test("a name that the specification does not have would be refused", async (t) => {
    const folder = await mkdtemp(path.join(os.tmpdir(), "signet-compose-"));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const faulty = path.join(folder, "compose.yaml");
    await writeFile(faulty, (await readFile(file, "utf8")).replace("    read_only:", "    readonly:"));
    const { status, stderr } = read(faulty);
    assert.notEqual(status, 0);
    assert.match(stderr, /readonly/);
  });
});
