/** That what happens is counted where it happens: through the service's own doors. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { testBrowser } from "../../testing/fakes/browser.ts";
import { makeAgent, makePool } from "../../testing/fixtures/agent.ts";
import { credentials, postForm } from "../../testing/fixtures/client.ts";
import { callApi, makeSystemAccount } from "../../testing/fixtures/system-account.ts";
import { logIn, visit } from "../../testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { readActivity } from "./activity.store.ts";
import {
  AGENTS,
  countedKinds,
  HOUR_MS,
  ofApplication,
  ofMethod,
  ofPool,
  type StoredKind,
  signInMethod,
  signInMethods,
} from "./kinds.ts";

let running: TestService;
let org: TestOrganisation;
before(async () => {
  running = await startTestService({ databaseUrl: "sqlite::memory:" });
  org = await makeOrganisation(running.service);
});
after(async () => {
  await running.close();
  // A pool without agents is an operator's business.
  assert.deepEqual(running.errors.map(String), ["OAuthError: no signing agent is online"]);
});

async function totals(more: readonly StoredKind[] = []): Promise<Record<string, number>> {
  const { activity, database, clock } = running.service;
  await activity.flush();
  const kinds = [...countedKinds, AGENTS, ...more] as StoredKind[];
  // With the hour before: it may end between two looks.
  const times = { from: clock() - 2 * HOUR_MS, to: clock() + HOUR_MS, by: "hour" } as const;
  const read = await readActivity(database.query, org.organisation.id, { kinds, ...times });
  return Object.fromEntries(
    kinds.map((kind) => [kind, (read.totals[kind] ?? []).reduce((sum, count) => sum + count, 0)]),
  );
}

/** What an act adds. */
async function counted(act: () => Promise<unknown>, more: readonly StoredKind[] = []) {
  const was = await totals(more);
  await act();
  const is = await totals(more);
  const added = Object.keys(is).map((kind) => [kind, (is[kind] ?? 0) - (was[kind] ?? 0)] as const);
  return Object.fromEntries(added.filter(([, count]) => count !== 0));
}

const token = (form: Record<string, string>) => postForm(`${org.issuer}/token`, form);
const batchToken = () => token({ grant_type: "client_credentials", ...credentials(org.batch) });

test("counts sign-ins and failed sign-ins in the browser", async () => {
  const browser = testBrowser();
  const page = await visit(browser, org);
  assert.deepEqual(await counted(() => logIn(browser, org, page, { password: "wrong" })), {
    "failed-sign-ins": 1,
  });
  const methods = signInMethods.map(ofMethod);
  assert.deepEqual(await counted(() => logIn(browser, org, page), methods), {
    "sign-ins": 1,
    "sign-ins/password": 1,
  });
});

test("tells how users signed in, by the amr of their session", () => {
  assert.equal(signInMethod(["pwd"]), "password");
  for (const amr of [
    ["pwd", "otp", "mfa"],
    ["pwd", "mfa"],
    ["pwd", "hwk", "mfa"],
  ])
    assert.equal(signInMethod(amr), "password-and-factor", amr.join());
  for (const amr of [["email"], ["email", "otp", "mfa"]])
    assert.equal(signInMethod(amr), "email", amr.join());
  for (const amr of [["fed"], ["fed", "otp", "mfa"]])
    assert.equal(signInMethod(amr), "connection", amr.join());
  for (const amr of [["hwk", "user", "mfa"], ["swk"]]) assert.equal(signInMethod(amr), "passkey", amr.join());
});

test("counts sign-ins through the legacy API", async () => {
  const account = await makeSystemAccount(running.service, org);
  const url = `${running.baseUrl}/legacy/api/Authentication/User/Login`;
  const call = (Password: string) => callApi(url, account, { body: { Email: org.user.email, Password } });
  assert.deepEqual(await counted(() => call("wrong")), { "failed-sign-ins": 1 });
  assert.deepEqual(await counted(() => call(org.user.password), [ofMethod("password")]), {
    ...{ "sign-ins": 1, "sign-ins/password": 1 },
  });
});

test("counts tokens, and errors of known clients only", async () => {
  const own = ofApplication(org.batch.application.id);
  assert.deepEqual(await counted(batchToken, [own]), { tokens: 1, [own]: 1 });
  const { client_id, client_secret } = credentials(org.batch);
  const grant_type = "client_credentials";
  const refused = { "refused-tokens": 1 };
  assert.deepEqual(await counted(() => token({ grant_type, client_id, client_secret: "no" })), refused);
  assert.deepEqual(await counted(() => token({ grant_type: "none", client_id, client_secret })), refused);
  const stranger = { grant_type, client_id: org.organisation.id, client_secret };
  assert.deepEqual(await counted(() => token(stranger)), {});
});

test("doesn't count a pending device code as an error", async () => {
  const grant = "urn:ietf:params:oauth:grant-type:device_code";
  const client = credentials(await makeClient(running.service, org.organisation, { grantTypes: [grant] }));
  const { body } = await postForm(`${org.issuer}/device`, { ...client, scope: "openid" });
  const waiting = { grant_type: grant, ...client, device_code: String(body["device_code"]) };
  assert.equal((await token(waiting)).body["error"], "authorization_pending");
  assert.deepEqual(await counted(() => token(waiting)), {});
});

test("counts signatures, rejections and timeouts of a pool", async () => {
  const pool = await makePool(running.service, org);
  const agent = await makeAgent(running.service, org, pool);
  const client = await makeClient(running.service, org.organisation, {
    grantTypes: ["client_credentials"],
    allowedScopes: ["jobs:run"],
    signingPoolId: pool.id,
  });
  const ask = () => token({ grant_type: "client_credentials", ...credentials(client) });
  const kinds = [ofPool("pool-signatures", pool.id), ofPool("failed-pool-signatures", pool.id)] as const;
  const failed = { "refused-tokens": 1, "failed-pool-signatures": 1, [kinds[1]]: 1 };
  assert.deepEqual(await counted(ask, kinds), failed, "no agent");
  await agent.call("queue");
  const answers = async (
    answer: (claimed: NonNullable<Awaited<ReturnType<typeof agent.claim>>>) => unknown,
  ) => {
    const asked = ask();
    const claimed = await agent.claim({ wait: 5 });
    assert.ok(claimed);
    await answer(claimed);
    await asked;
  };
  assert.deepEqual(await counted(() => answers((claimed) => agent.sign(claimed)), kinds), {
    tokens: 1,
    "pool-signatures": 1,
    [kinds[0]]: 1,
  });
  const refusal = () => answers((claimed) => agent.reject(claimed, "policy_denied"));
  assert.deepEqual(await counted(refusal, kinds), failed);
});
