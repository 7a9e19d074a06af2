/** OpenID Connect clients of other languages, each with the settings that `app create --for` prints for it. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { quickPasswords } from "../../packages/server/src/testing/fakes/quick-passwords.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../packages/server/src/testing/test-service.ts";
import { keptFolder } from "../kept-folder.ts";
import { type ClientProgram, runClient } from "./client-run.ts";

const here = import.meta.dirname;
const python = path.join(keptFolder("python"), "bin/python");
const timeout = 240_000;

let running: TestService;
let org: TestOrganisation;
before(async () => {
  running = await startTestService({ databaseUrl: "sqlite::memory:", passwords: quickPasswords });
  org = await makeOrganisation(running.service);
});
after(() => running.close());

const inPython = (folder: "authlib" | "django", refreshes: boolean): ClientProgram => ({
  stack: folder,
  command: python,
  parameters: [path.join(here, folder, "sign_in.py")],
  refreshes,
});

const missingPython = (module: string): string | false =>
  (!existsSync(python) || spawnSync(python, ["-c", `import ${module}`]).status !== 0) &&
  `${module} is not installed`;

test("Authlib with Flask", { skip: missingPython("authlib"), timeout }, () =>
  runClient(running, org, inPython("authlib", true)),
);

test("mozilla-django-oidc", { skip: missingPython("mozilla_django_oidc"), timeout }, () =>
  runClient(running, org, inPython("django", false)),
);

/** go-oidc needs Go 1.24; older ones of Debian fetch no newer toolchain by themselves. */
const missingGo = (): string | false => {
  const { stdout } = spawnSync("go", ["env", "GOVERSION"], { encoding: "utf8" });
  const [, minor = "0"] = /go1\.(\d+)/.exec(stdout ?? "") ?? [];
  return Number(minor) < 24 && "Go 1.24 is not installed";
};

test("go-oidc with golang.org/x/oauth2", { skip: missingGo(), timeout }, () =>
  runClient(running, org, {
    stack: "go",
    command: "go",
    parameters: ["run", "-C", path.join(here, "go-oidc"), "."],
    refreshes: true,
  }),
);
