import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { forEachDatabase } from "../../testing/databases.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import type { Application } from "../applications/application.ts";
import { deleteApplication } from "../applications/application-changes.ts";
import { createApplication } from "../applications/applications.ts";
import { duringRequest } from "../audit/audited-request.ts";
import { findRefusedRequest, insertRefusedRequests, listRefusedRequests } from "./refused-requests.store.ts";
import { type RefusedBatch, refusedRequests } from "./refused-requests.ts";

const refusal = (description: string, reason = "pkce-required") =>
  new OAuthError("invalid_request", description, { reason });

function inMemory() {
  const written: RefusedBatch[] = [];
  const state = { fails: false };
  const noted = refusedRequests({
    clock: () => 1,
    onError: assert.ifError,
    write: async (batch) => {
      if (state.fails) throw new Error("no database");
      written.push(batch);
    },
  });
  return { noted, written, state };
}

test("a flood writes ten requests of an application, and of few applications, in one batch", async () => {
  const { noted, written } = inMemory();
  for (let org = 0; org < 30; org++)
    for (let application = 0; application < 30; application++)
      for (let time = 0; time < 30; time++)
        noted.note({ orgId: `o${org}`, id: `a${application}` }, "token", refusal(`${time}`));
  await noted.flush();
  assert.equal(written.length, 20);
  assert.equal(
    written.filter(({ orgId }) => orgId === "o0").length,
    4,
    "one organisation leaves room for others",
  );
  for (const { requests } of written)
    assert.deepEqual(
      requests.map(({ description }) => description),
      Array.from({ length: 10 }, (_, i) => `${20 + i}`),
    );
  await noted.flush();
  assert.equal(written.length, 20, "once");
  await noted.close();
});

test("what could not be written is written later", async () => {
  const { noted, written, state } = inMemory();
  state.fails = true;
  noted.note({ orgId: "o", id: "a" }, "token", refusal("one"));
  await assert.rejects(noted.flush());
  state.fails = false;
  await noted.close();
  assert.equal(written[0]?.requests.length, 1);
});

test("closing waits for the write that is under way", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { promise, resolve: finish } = Promise.withResolvers<void>();
  let underWay = 0;
  const noted = refusedRequests({
    clock: () => 1,
    onError: assert.ifError,
    write: async () => {
      underWay += 1;
      // Only the first takes long: that of `close` itself would be waited for anyway.
      if (underWay === 1) await promise;
      underWay -= 1;
    },
  });
  noted.note({ orgId: "o", id: "a" }, "token", refusal("one"));
  t.mock.timers.tick(10_000);
  assert.equal(underWay, 1);
  const closed = noted.close();
  setImmediate(finish);
  await closed;
  assert.equal(underWay, 0);
});

test("answers that are no fault of the request are not noted", async () => {
  const { noted, written } = inMemory();
  for (const code of [
    "login_required",
    "access_denied",
    "authorization_pending",
    "slow_down",
    "server_error",
  ] as const)
    noted.note({ orgId: "o", id: "a" }, "authorize", new OAuthError(code, "x"));
  await noted.close();
  assert.deepEqual(written, []);
});

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
  });
  after(() => running.close());

  const application = (): Promise<Application> =>
    createApplication(running.service, {
      orgId: org.organisation.id,
      name: "App",
      clientType: "native",
      settings: {},
      actor: "test",
    });
  const batch = ({ orgId, id }: Application, descriptions: readonly string[]): RefusedBatch => ({
    orgId,
    applicationId: id,
    requests: descriptions.map((description, at) => ({
      ...{ at, description },
      ...({ endpoint: "token", error: "invalid_grant", reason: "other" } as const),
    })),
  });
  const stored = async ({ orgId, id }: Application) =>
    (await listRefusedRequests(running.service.database.query, { orgId, applicationId: id })).map(
      ({ description }) => description,
    );
  const write = (of: Application, descriptions: readonly string[]) =>
    insertRefusedRequests(running.service.database.query, batch(of, descriptions));

  test("the last ten are kept, newest first, of each application its own", async () => {
    const [one, other] = [await application(), await application()];
    const numbers = Array.from({ length: 27 }, (_, index) => `${index}`);
    await write(one, numbers.slice(0, 4));
    await write(other, ["of the other"]);
    await write(one, numbers.slice(4));
    assert.deepEqual(await stored(one), numbers.slice(-10).toReversed());
    assert.deepEqual(await stored(other), ["of the other"]);
  });

  test("two nodes that write at once leave at most ten", async () => {
    const one = await application();
    const many = Array.from({ length: 10 }, (_, index) => `${index}`);
    await Promise.all([write(one, many), write(one, many), write(one, many)]);
    const kept = await stored(one);
    assert.ok(kept.length > 0 && kept.length <= 10, `${kept.length}`);
  });

  test("a refused request is found by its reference, in its own organisation only", async () => {
    const one = await application();
    const { refusedRequests: noted } = running.service;
    duringRequest({ requestId: "node-42", userAgent: undefined }, () =>
      noted.note(one, "authorize", refusal("the redirect URI", "redirect-uri-unregistered")),
    );
    await noted.flush();
    const find = (orgId: string, requestId: string) =>
      findRefusedRequest(running.service.database.query, { orgId, requestId });
    const found = await find(one.orgId, "node-42");
    assert.deepEqual(
      [found?.applicationId, found?.reason, found?.requestId],
      [one.id, "redirect-uri-unregistered", "node-42"],
    );
    assert.equal(await find(one.orgId, "node-4"), undefined);
    const other = await makeOrganisation(running.service, "Other");
    assert.equal(await find(other.organisation.id, "node-42"), undefined);
  });

  test("go with their application, and nothing is kept of one that is gone", async () => {
    const one = await application();
    await write(one, ["x"]);
    await deleteApplication(running.service, { orgId: one.orgId, id: one.id, actor: "test" });
    await write(one, ["y"]);
    assert.deepEqual(await stored(one), []);
  });
});
