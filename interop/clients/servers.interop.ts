/** Servers that sign people in with the files that `signet app create --for` prints, used as they are. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import type { StackName } from "../../packages/server/src/core/stacks/stacks.ts";
import type { Environment } from "../../packages/server/src/testing/command-line.ts";
import type { TestPage } from "../../packages/server/src/testing/fakes/browser.ts";
import { quickPasswords } from "../../packages/server/src/testing/fakes/quick-passwords.ts";
import { showsLogin } from "../../packages/server/src/testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  TEST_MASTER_KEY,
  type TestOrganisation,
  type TestService,
} from "../../packages/server/src/testing/test-service.ts";
import { missingApache, startApache } from "./apache.ts";
import { missingNpmClients, startNodeProgram } from "./node-program.ts";
import { makePerson, type Person } from "./person.ts";
import { missingPython, startAllauth, startUvicorn } from "./python-program.ts";
import { missingSpring, startSpring } from "./spring.ts";
import { createForStack, type StackFiles } from "./stack-files.ts";

const timeout = 60_000;

let folder: string;
let running: TestService;
let org: TestOrganisation;
let env: Environment;
before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "signet-clients-"));
  const databaseUrl = `sqlite:${path.join(folder, "signet.db")}`;
  running = await startTestService({ databaseUrl, passwords: quickPasswords, masterKey: TEST_MASTER_KEY });
  org = await makeOrganisation(running.service);
  env = {
    DATABASE_URL: databaseUrl,
    SIGNET_MASTER_KEY: TEST_MASTER_KEY,
    SIGNET_DATA_DIR: running.service.config.dataDir,
    SIGNET_BASE_URL: running.baseUrl,
  };
});
after(async () => {
  await running.close();
  await rm(folder, { recursive: true, force: true });
  assert.deepEqual(running.errors, []);
});

interface Server {
  output(): string;
  stop(): Promise<void>;
}

/** Creates the application, starts its server with what was printed, and stops it whatever happens. */
async function withServer(
  stack: StackName,
  start: (files: StackFiles) => Promise<Server>,
  use: (files: StackFiles, person: Person) => Promise<void>,
): Promise<void> {
  const files = await createForStack(stack, org, env);
  try {
    const server = await start(files);
    try {
      await use(files, makePerson(org));
    } catch (error) {
      throw new Error(`${stack}: ${server.output().slice(-4_000)}`, { cause: error });
    } finally {
      await server.stop();
    }
  } finally {
    await files.remove();
  }
}

/** @throws AssertionError with the page when it is none of a program */
function jsonOf({ url, status, body }: TestPage): Record<string, unknown> {
  assert.equal(status, 200, `${url}: ${body.slice(0, 2_000)}`);
  return JSON.parse(body) as Record<string, unknown>;
}

test("Apache with mod_auth_openidc", { skip: missingApache(), timeout }, () =>
  withServer("apache", startApache, async ({ address, redirectUri }, person) => {
    const page = `${address}/secure/page?of=ours`;
    const entered = await person.signIn(await person.open(page));
    assert.equal(entered.url, page);
    const headers = jsonOf(entered);
    const { sub, name, email, role } = {
      sub: headers["oidc_claim_sub"],
      name: headers["oidc_claim_name"],
      email: headers["oidc_claim_email"],
      role: headers["oidc_claim_role"],
    };
    assert.deepEqual([sub, name, email, role], [org.user.id, "Uma User", org.user.email, "Standard"]);
    assert.equal(headers["x-remote-user"], email);

    const accessToken = String(headers["oidc_access_token"]);
    const refresh = new URLSearchParams({ refresh: page, access_token: accessToken });
    const refreshed = await person.open(`${redirectUri}?${refresh}`);
    assert.equal(refreshed.url, page);
    assert.notEqual(jsonOf(refreshed)["oidc_access_token"], accessToken);

    const out = await person.open(`${redirectUri}?${new URLSearchParams({ logout: `${address}/` })}`);
    assert.equal(out.url, `${address}/`, "back at the application");
    assert.equal(jsonOf(out)["x-remote-user"], "");
    assert.ok(showsLogin(await person.open(page)), "signed out");
  }),
);

/** What the ID token says of the person. */
const claimsOf = ({ sub, name, email }: Record<string, unknown>) => ({ sub, name, email });
const uma = () => ({ sub: org.user.id, name: "Uma User", email: org.user.email });

test("express-openid-connect", { skip: missingNpmClients(), timeout }, () =>
  withServer(
    "express",
    (files) => startNodeProgram(files),
    async ({ address }, person) => {
      const home = await person.signIn(await person.open(`${address}/`));
      assert.deepEqual(claimsOf(jsonOf(home)), uma());
      // The application's page demands a sign-in again, and Signet's session has ended as well.
      assert.ok(showsLogin(await person.open(`${address}/logout`)), "signed out");
    },
  ),
);

test("Auth.js in Express", { skip: missingNpmClients(), timeout }, () =>
  withServer(
    "authjs",
    (files) => startNodeProgram(files, "authjs.mjs"),
    async ({ address }, person) => {
      assert.equal((await person.open(`${address}/`)).body, "null");
      const submit = async (action: string) => {
        const { csrfToken } = jsonOf(await person.open(`${address}/auth/csrf`));
        const form = { csrfToken: String(csrfToken), callbackUrl: `${address}/` };
        return person.submit(`${address}/auth/${action}`, form);
      };
      const home = await person.signIn(await submit("signin/signet"));
      const { name, email } = uma();
      assert.deepEqual(jsonOf(home)["user"], { name, email });
      // It ends its own session only.
      assert.equal((await submit("signout")).body, "null");
    },
  ),
);

test("Passport with openid-client", { skip: missingNpmClients(), timeout }, () =>
  withServer(
    "generic",
    (files) => startNodeProgram(files, "passport.mjs"),
    async ({ address }, person) => {
      const home = await person.signIn(await person.open(`${address}/login`));
      assert.deepEqual(claimsOf(jsonOf(home)), uma());
      assert.deepEqual(jsonOf(await person.open(`${address}/refresh`)), { sub: org.user.id, isNew: true });
      const out = await person.open(`${address}/logout`);
      assert.deepEqual([out.url, out.body], [`${address}/`, "null"], "back at the application");
      assert.ok(showsLogin(await person.open(`${address}/login`)), "signed out");
    },
  ),
);

test("Spring Boot, client and resource server", { skip: missingSpring(), timeout }, () =>
  withServer("spring", startSpring, async ({ address }, person) => {
    const home = jsonOf(await person.signIn(await person.open(`${address}/`)));
    assert.deepEqual(claimsOf(home), uma());
    const { accessToken } = jsonOf(await person.open(`${address}/refresh`));
    assert.notEqual(accessToken, home["accessToken"]);
    const headers = { authorization: `Bearer ${accessToken}` };
    assert.deepEqual(await (await fetch(`${address}/api/me`, { headers })).json(), { sub: org.user.id });
    assert.equal((await fetch(`${address}/api/me`)).status, 401);

    const { body } = await person.open(`${address}/logout`);
    const [, token = ""] = /name="_csrf"[^>]* value="([^"]+)"/.exec(body) ?? [];
    const out = await person.submit(`${address}/logout`, { _csrf: token });
    // The application's page demands a sign-in again, and Signet's session has ended as well.
    assert.ok(showsLogin(out), `signed out: ${out.url} ${out.status}`);
  }),
);

test("FastAPI with Authlib", { skip: missingPython("fastapi, uvicorn, itsdangerous"), timeout }, () =>
  withServer("fastapi", startUvicorn, async ({ address }, person) => {
    const home = await person.signIn(await person.open(`${address}/`));
    assert.deepEqual(claimsOf(jsonOf(home)), uma());
  }),
);

test("django-allauth", { skip: missingPython("allauth"), timeout }, () =>
  withServer("allauth", startAllauth, async ({ address }, person) => {
    const press = async (url: string) => person.submit(url, (await person.open(url)).hidden);
    const home = await person.signIn(await press(`${address}/accounts/oidc/signet/login/`));
    assert.deepEqual(jsonOf(home), uma());
    // It ends its own session only.
    assert.deepEqual(jsonOf(await press(`${address}/accounts/logout/`)), {});
  }),
);
