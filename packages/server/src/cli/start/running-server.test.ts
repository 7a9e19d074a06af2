import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { type Environment, runForJson, runInProcess, runProgram } from "../../testing/command-line.ts";
import { eventually } from "../../testing/eventually.ts";
import { authorizationRequest, authorize, testBrowser } from "../../testing/fakes/browser.ts";
import { postForm } from "../../testing/fixtures/client.ts";
import { callApi, type TestAccount } from "../../testing/fixtures/system-account.ts";
import { type StartedProgram, startSignet } from "../../testing/started-program.ts";
import type { DemoFile, ServiceApp } from "../demo/demo-file.ts";

describe("commands beside a running server take effect immediately", () => {
  let dataDir: string;
  let env: Environment;
  let server: StartedProgram;
  let demo: DemoFile;

  before(async () => {
    dataDir = await mkdtemp(path.join(os.tmpdir(), "signet-running-"));
    env = { SIGNET_DATA_DIR: dataDir };
    server = await startSignet(["--demo"], env);
    demo = JSON.parse(await readFile(path.join(dataDir, "demo.json"), "utf8")) as DemoFile;
  });
  after(async () => {
    const { code } = await server.stop();
    await rm(dataDir, { recursive: true, force: true });
    assert.equal(code, 0);
  });

  const tokenStatus = async ({ clientId, clientSecret }: ServiceApp, issuer = demo.issuer) => {
    const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
    return (await postForm(`${issuer}/token`, form)).status;
  };
  const becomes = async (status: number, ask: () => Promise<number>) => {
    const began = performance.now();
    await eventually(`the answer is ${status}`, async () => (await ask()) === status);
    return `${Math.round(performance.now() - began)} ms`;
  };

  test("app disable stops tokens, and --enable restores them", async (t) => {
    const ask = () => tokenStatus(demo.serviceApp);
    assert.equal(await ask(), 200);
    const args = ["app", "disable", demo.serviceApp.clientId, "--org", demo.org];
    assert.equal((await runProgram(args, env)).code, 0);
    t.diagnostic(`refused ${await becomes(401, ask)} after the command had ended`);
    assert.equal((await runInProcess([...args, "--enable"], env)).code, 0);
    t.diagnostic(`accepted ${await becomes(200, ask)} after the command had ended`);
  });

  test("secret create and secret revoke change client authentication", async () => {
    const { clientId } = demo.serviceApp;
    const which = ["--org", demo.org, "--app", clientId];
    const made = await runForJson<{ id: string; clientSecret: string }>(["secret", "create", ...which], env);
    const second = { clientId, clientSecret: made.clientSecret };
    await becomes(200, () => tokenStatus(second));
    await runForJson(["secret", "revoke", ...which, "--id", made.id], env);
    await becomes(401, () => tokenStatus(second));
    assert.equal(await tokenStatus(demo.serviceApp), 200);
  });

  test("account rotate keeps both keys active until the old one expires, and disable rejects both", async () => {
    const which = ["--org", demo.org];
    const make = ["account", "create", ...which, "--app", demo.serviceApp.clientId, "--name", "Import"];
    const first = await runForJson<TestAccount & { secretKey: string }>(make, env);
    const call =
      ({ publicKey, secretKey }: { publicKey: string; secretKey: string }) =>
      async () => {
        const body = { email: demo.user.email };
        const account = { publicKey, secret: secretKey };
        return (await callApi(`${server.baseUrl}/legacy/api/users/get`, account, { body })).status;
      };
    await becomes(200, call(first));
    const rotate = (...more: string[]) =>
      runForJson<{ publicKey: string; secretKey: string }>(
        ["account", "rotate", first.id, ...which, ...more],
        env,
      );
    const second = await rotate();
    await becomes(200, call(second));
    assert.equal(await call(first)(), 200);
    await runForJson(["account", "revoke-key", first.id, ...which, "--key", first.publicKey], env);
    await becomes(401, call(first));
    assert.equal(await call(second)(), 200);

    const third = await rotate("--expire-others-in", "1h");
    await becomes(200, call(third));
    assert.equal(await call(second)(), 200, "still within its hour");
    await rotate("--expire-others-in", "0");
    await becomes(401, call(third));
    // Each key is remembered by itself: the server may have read this one anew and not yet the other.
    await becomes(401, call(second));

    const fourth = await rotate();
    await becomes(200, call(fourth));
    await runForJson(["account", "disable", first.id, ...which], env);
    await becomes(401, call(fourth));
    await runForJson(["account", "enable", first.id, ...which], env);
    await becomes(200, call(fourth));
    await runForJson(["account", "delete", first.id, ...which], env);
    await becomes(401, call(fourth));
  });

  test("account grant and withdraw control which applications a call may name", async () => {
    const which = ["--org", demo.org];
    const make = ["account", "create", ...which, "--app", demo.serviceApp.clientId, "--name", "Reader"];
    const { id, publicKey, secretKey } = await runForJson<TestAccount & { secretKey: string }>(make, env);
    const call = async () => {
      const body = { email: demo.user.email, ApplicationId: demo.webApp.clientId };
      const account = { publicKey, secret: secretKey };
      return (await callApi(`${server.baseUrl}/legacy/api/users/get`, account, { body })).status;
    };
    assert.equal(await call(), 401);
    await runForJson(["account", "grant", id, ...which, "--app", demo.webApp.clientId], env);
    await becomes(200, call);
    await runForJson(["account", "withdraw", id, ...which, "--app", demo.webApp.clientId], env);
    await becomes(401, call);
  });

  test("org apply takes effect, and so does applying the earlier file", async () => {
    const exportArgs = ["org", "export", "--org", demo.org];
    const file = JSON.parse((await runInProcess(exportArgs, env)).out) as {
      applications: Array<{ id: string }>;
    };
    const ask = () => tokenStatus(demo.serviceApp);
    const apply = async (enabled: boolean) => {
      const applications = file.applications.map((one) =>
        one.id === demo.serviceApp.clientId ? { ...one, enabled } : one,
      );
      const name = path.join(dataDir, "organisation.json");
      await writeFile(name, JSON.stringify({ ...file, applications }));
      const args = ["org", "apply", "--org", demo.org, "--file", name, "--yes"];
      assert.equal((await runInProcess(args, env)).code, 0);
    };
    await apply(false);
    await becomes(401, ask);
    await apply(true);
    await becomes(200, ask);
  });

  test("org disable removes the issuer, and --enable restores it", async () => {
    const { issuer, org } = demo.otherOrg;
    const discovery = async () => (await fetch(`${issuer}/.well-known/openid-configuration`)).status;
    assert.equal(await discovery(), 200);
    await runForJson(["org", "disable", org], env);
    await becomes(404, discovery);
    await becomes(404, () => tokenStatus(demo.otherOrg.serviceApp, issuer));
    await runForJson(["org", "disable", org, "--enable"], env);
    await becomes(200, discovery);
  });

  test("keys rotate publishes the new key, and removes a compromised one from the JWKS", async () => {
    const jwks = async () => {
      const answer = await fetch(`${demo.issuer}/.well-known/jwks.json`);
      return ((await answer.json()) as { keys: Array<{ kid: string }> }).keys.map(({ kid }) => kid);
    };
    const before = await jwks();
    const next = await runForJson<{ kid: string }>(["keys", "rotate", "--org", demo.org], env);
    await eventually("the next key is published", async () => (await jwks()).includes(next.kid));
    assert.ok(before.every((kid) => kid !== next.kid));
    const args = ["keys", "rotate", "--org", demo.org, "--compromised"];
    const { kid } = await runForJson<{ kid: string }>(args, env);
    const replaced = async () => {
      const now = await jwks();
      return now.includes(kid) && !now.includes(next.kid) && now.length === 2;
    };
    await eventually("the old keys are gone", replaced);
    assert.equal(await tokenStatus(demo.serviceApp), 200);
  });

  test("user create, set-password and disable rule who may sign in and whose tokens live", async () => {
    const who = ["--org", demo.org, "--email", "nia@demo.example"];
    const password = "plum tractor ninety";
    assert.equal((await runInProcess(["user", "create", ...who], env, password)).code, 0);
    const { clientId, clientSecret, redirectUris } = demo.webApp;
    const [redirectUri = ""] = redirectUris;
    const { query, verifier } = authorizationRequest(clientId, redirectUri);
    const person = { email: "nia@demo.example", password };
    const answer = await authorize(testBrowser(), { issuer: demo.issuer, query, ...person });
    const client = { client_id: clientId, client_secret: clientSecret };
    const { body } = await postForm(`${demo.issuer}/token`, {
      grant_type: "authorization_code",
      code: answer.get("code") ?? "",
      redirect_uri: redirectUri,
      code_verifier: verifier,
      ...client,
    });
    const userinfo = async () => {
      const headers = { authorization: `Bearer ${body["access_token"]}` };
      return (await fetch(`${demo.issuer}/userinfo`, { headers })).status;
    };
    assert.equal(await userinfo(), 200);
    await runForJson(["user", "disable", ...who], env);
    await becomes(401, userinfo);
    const refresh = { grant_type: "refresh_token", refresh_token: String(body["refresh_token"]), ...client };
    assert.equal((await postForm(`${demo.issuer}/token`, refresh)).status, 400);
    await runForJson(["user", "disable", ...who, "--enable"], env);
    await runForJson(["user", "set-password", ...who, "--generate"], env);
    const again = authorizationRequest(clientId, redirectUri);
    await assert.rejects(authorize(testBrowser(), { issuer: demo.issuer, query: again.query, ...person }));
  });
});
