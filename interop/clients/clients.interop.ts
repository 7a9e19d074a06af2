/** OpenID Connect clients of other languages, each with the settings that `app create --for` prints for it. */
import path from "node:path";
import { after, before, test } from "node:test";
import { quickPasswords } from "../../packages/server/src/testing/fakes/quick-passwords.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../packages/server/src/testing/test-service.ts";
import { runClient } from "./client-run.ts";
import { missingPython, python } from "./python-program.ts";

const here = import.meta.dirname;
const timeout = 240_000;

let running: TestService;
let org: TestOrganisation;
before(async () => {
  running = await startTestService({ databaseUrl: "sqlite::memory:", passwords: quickPasswords });
  org = await makeOrganisation(running.service);
});
after(() => running.close());

test("Authlib with Flask", { skip: missingPython("authlib"), timeout }, () =>
  runClient(running, org, {
    stack: "authlib",
    command: python,
    parameters: [path.join(here, "authlib/sign_in.py")],
    refreshes: true,
  }),
);
