/** Servers that sign people in with the files that `signet app create --for` prints, used as they are. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { TestPage } from "../../packages/server/src/testing/fakes/browser.ts";
import { showsLogin } from "../../packages/server/src/testing/fixtures/visit.ts";
import type { TestOrganisation } from "../../packages/server/src/testing/test-service.ts";
import { missingGoProgram, runKubelogin } from "./go-programs.ts";
import { missingNpmClients, startNodeProgram } from "./node-program.ts";
import type { Person } from "./person.ts";
import { missingPython, startPythonProgram } from "./python-program.ts";
import { missingRails, startRails } from "./rails.ts";
import { type StackService, startStackService } from "./stack-service.ts";

/** Some compile or migrate first, side by side with other tests. */
const timeout = 180_000;

let service: StackService;
let org: TestOrganisation;
before(async () => {
  service = await startStackService();
  org = service.org;
});
after(() => service.close());

/** For programs that the test runs by itself. */
const noServer = async () => ({ output: () => "", stop: async () => {} });

/** @throws AssertionError with the page when it is none of a program */
function jsonOf({ url, status, body }: TestPage): Record<string, unknown> {
  assert.equal(status, 200, `${url}: ${body.slice(0, 2_000)}`);
  return JSON.parse(body) as Record<string, unknown>;
}

/** What the ID token says of the person. */
const claimsOf = ({ sub, name, email }: Record<string, unknown>) => ({ sub, name, email });
const uma = () => ({ sub: org.user.id, name: "Uma User", email: org.user.email });

test("express-openid-connect", { skip: missingNpmClients(), timeout }, () =>
  service.withServer(
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

/** @param session where the application tells it. @param auth where Auth.js is */
async function signInWithAuthjs(person: Person, session: string, auth: string): Promise<void> {
  assert.equal((await person.open(session)).body, "null");
  const submit = async (action: string) => {
    const { csrfToken } = jsonOf(await person.open(`${auth}/csrf`));
    const form = { csrfToken: String(csrfToken), callbackUrl: session };
    return person.submit(`${auth}/${action}`, form);
  };
  const home = await person.signIn(await submit("signin/signet"));
  const { name, email } = uma();
  assert.deepEqual(jsonOf(home)["user"], { name, email });
  // It ends its own session only.
  assert.equal((await submit("signout")).body, "null");
}

test("Auth.js in Express", { skip: missingNpmClients(), timeout }, () =>
  service.withServer(
    "authjs",
    (files) => startNodeProgram(files, "authjs.mjs"),
    ({ address }, person) => signInWithAuthjs(person, `${address}/`, `${address}/auth`),
  ),
);

test("Passport with openid-client", { skip: missingNpmClients(), timeout }, () =>
  service.withServer(
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

test("django-allauth", { skip: missingPython("allauth"), timeout }, () =>
  service.withServer(
    "allauth",
    startPythonProgram("django/allauth_project.py"),
    async ({ address }, person) => {
      const press = async (url: string) => person.submit(url, (await person.open(url)).hidden);
      const home = await person.signIn(await press(`${address}/accounts/oidc/signet/login/`));
      assert.deepEqual(jsonOf(home), uma());
      // It ends its own session only.
      assert.deepEqual(jsonOf(await press(`${address}/accounts/logout/`)), {});
    },
  ),
);

test("passport-openidconnect", { skip: missingNpmClients(), timeout }, () =>
  service.withServer(
    "generic",
    (files) => startNodeProgram(files, "passport-openidconnect.mjs"),
    async ({ address }, person) => {
      const home = await person.signIn(await person.open(`${address}/login`));
      const { id, displayName, emails } = jsonOf(home);
      assert.deepEqual([id, displayName, emails], [org.user.id, "Uma User", [{ value: org.user.email }]]);
    },
  ),
);

test("Grant", { skip: missingNpmClients(), timeout }, () =>
  service.withServer(
    ["generic", "/connect/signet/callback"],
    (files) => startNodeProgram(files, "grant.mjs"),
    async ({ address }, person) => {
      const home = await person.signIn(await person.open(`${address}/connect/signet`));
      assert.deepEqual(claimsOf(jsonOf(home)), uma());
    },
  ),
);

test("MCP SDK, client and server", { skip: missingNpmClients(), timeout }, () =>
  service.withServer(
    "mcp",
    (files) => startNodeProgram(files, "mcp.mjs"),
    async ({ address }, person) => {
      const refused = await fetch(`${address}/mcp`, {
        method: "POST",
        headers: { authorization: "Bearer x" },
      });
      assert.equal(refused.status, 401);
      assert.match(refused.headers.get("www-authenticate") ?? "", /resource_metadata="http/);

      const scopes = ["openid", "profile", "email", "offline_access"];
      const whoami = jsonOf(await person.signIn(await person.open(`${address}/start`)));
      assert.deepEqual(whoami, { sub: org.user.id, scopes });
      const { whoami: again, ...refreshed } = jsonOf(await person.open(`${address}/refresh`));
      assert.deepEqual(refreshed, { result: "AUTHORIZED", isNew: true });
      assert.deepEqual(JSON.parse(String(again)), whoami);
    },
  ),
);

test("Rails with omniauth_openid_connect", { skip: missingRails(), timeout }, () =>
  service.withServer("rails", startRails, async ({ address }, person) => {
    const pressed = async (more: Record<string, string> = {}) => {
      const { body } = await person.open(`${address}/buttons`);
      const tokens = [...body.matchAll(/name="authenticity_token" value="([^"]+)"/g)];
      const [, token = ""] = tokens["_method" in more ? 1 : 0] ?? [];
      return { authenticity_token: token, ...more };
    };
    const home = await person.signIn(await person.submit(`${address}/auth/openid_connect`, await pressed()));
    assert.deepEqual(jsonOf(home), uma());
    const out = await person.submit(`${address}/logout`, await pressed({ _method: "delete" }));
    assert.deepEqual([out.url, out.body], [`${address}/`, "null"], "back at the application");
    assert.ok(
      showsLogin(await person.submit(`${address}/auth/openid_connect`, await pressed())),
      "signed out",
    );
  }),
);

test("kubelogin", { skip: missingGoProgram("kubelogin"), timeout }, () =>
  service.withServer("kubernetes", noServer, async (files, person) => {
    const claims = (idToken: string) => {
      const [, payload = ""] = idToken.split(".");
      const { sub, email, groups } = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as Record<
        string,
        unknown
      >;
      return { sub, email, groups };
    };
    const expected = { sub: org.user.id, email: org.user.email, groups: ["admins", "staff"] };
    const first = await runKubelogin(files);
    await person.signIn(await person.open((await first.page) ?? "it needs no browser"));
    const idToken = await first.idToken();
    assert.deepEqual(claims(idToken), expected);

    const second = await runKubelogin(files, "--force-refresh");
    assert.equal(await second.page, undefined, "it refreshes without a browser");
    const refreshed = await second.idToken();
    assert.notEqual(refreshed, idToken);
    assert.deepEqual(claims(refreshed), expected);
  }),
);

test("social-auth-app-django", { skip: missingPython("social_django"), timeout }, () =>
  service.withServer(
    ["generic", "/complete/oidc/"],
    startPythonProgram("social/project.py"),
    async ({ address }, person) => {
      const home = await person.signIn(await person.submit(`${address}/login/oidc/`, {}));
      assert.deepEqual(jsonOf(home), uma());
    },
  ),
);

test("Flask-pyoidc", { skip: missingPython("flask_pyoidc"), timeout }, () =>
  service.withServer("generic", startPythonProgram("pyoidc/app.py"), async ({ address }, person) => {
    const home = await person.signIn(await person.open(`${address}/`));
    assert.deepEqual(claimsOf(jsonOf(home)), uma());
  }),
);
