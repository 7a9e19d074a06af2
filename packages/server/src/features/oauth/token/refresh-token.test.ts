import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fake-clock.ts";
import { credentials, getTokens, postForm, refresh } from "../../../testing/test-client.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
  });
  after(() => running.close());

  const active = async (token: string) =>
    (await postForm(`${org.issuer}/introspect`, { token, ...credentials(org.web) })).body["active"];

  test("a refresh token gives a new access token and a new refresh token", async () => {
    const first = await getTokens(org);
    const second = await refresh(org, first.refreshToken);
    assert.equal(second.status, 200);
    assert.notEqual(second.body["refresh_token"], first.refreshToken);
    assert.notEqual(second.body["access_token"], first.accessToken);
    assert.equal((await refresh(org, String(second.body["refresh_token"]))).status, 200);
  });

  test("within the grace window the same token gives the same successor again, after it the family ends", async () => {
    const first = await getTokens(org);
    const successor = (await refresh(org, first.refreshToken)).body["refresh_token"];
    clock.advance(9_000);
    assert.equal((await refresh(org, first.refreshToken)).body["refresh_token"], successor);
    clock.advance(1_001);
    const late = await refresh(org, first.refreshToken);
    assert.equal(late.status, 400);
    assert.equal(late.body["error"], "invalid_grant");
    assert.equal((await refresh(org, String(successor))).status, 400, "the replay ended the family");
    assert.equal(await active(first.accessToken), false, "and its access tokens");
  });

  test("once the successor was used, the older token is a replay even within the window", async () => {
    const first = await getTokens(org);
    const second = String((await refresh(org, first.refreshToken)).body["refresh_token"]);
    const third = String((await refresh(org, second)).body["refresh_token"]);
    assert.equal((await refresh(org, first.refreshToken)).status, 400);
    assert.equal((await refresh(org, third)).status, 400);
  });

  test("a hundred refreshes at once leave one living family and one successor", async () => {
    const { refreshToken } = await getTokens(org);
    const answers = await Promise.all(Array.from({ length: 100 }, () => refresh(org, refreshToken)));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    const successors = new Set(answers.map(({ body }) => body["refresh_token"]));
    assert.equal(successors.size, 1);
    assert.equal((await refresh(org, String([...successors][0]))).status, 200);
  });

  test("without a grace window a hundred at once give one answer, and the replay ends the family", async () => {
    const strict = await makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      refreshTokenGraceSeconds: 0,
    });
    const { refreshToken } = await getTokens(org, {}, strict);
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => refresh(org, refreshToken, {}, strict)),
    );
    const good = answers.filter(({ status }) => status === 200);
    assert.equal(good.length, 1);
    assert.equal((await refresh(org, String(good[0]?.body["refresh_token"]), {}, strict)).status, 400);
  });
});
