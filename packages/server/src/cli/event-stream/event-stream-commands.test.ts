/** Streams of security events by the command line. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { POLL } from "../../core/event-streams/event-stream.ts";
import { createStream } from "../../core/event-streams/event-streams.ts";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { makeApiClient } from "../../testing/fixtures/api-client.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let operator: OperatorSettings;
  let org: TestOrganisation;
  before(async () => {
    const databaseUrl = await fresh();
    running = await startTestService({ databaseUrl });
    operator = await operatorSettings(databaseUrl);
    org = await makeOrganisation(running.service);
  });
  after(async () => {
    await running.close();
    await operator.remove();
  });
  const newStream = async () => {
    const settings = { grantTypes: ["client_credentials"] as const, allowedScopes: ["ssf.manage"] };
    const { application } = await makeClient(running.service, org.organisation, settings);
    const act = { orgId: org.organisation.id, actor: "test", client: application };
    const polled = { method: POLL, endpointUrl: null, eventsRequested: [], description: null };
    return createStream(running.service, { ...act, settings: polled });
  };
  const ofOrg = (words: string) => [...words.split(" "), "--org", org.organisation.id];

  for (const way of ["the database", "a server"])
    test(`they are listed, paused, resumed, disabled, verified and deleted by way of ${way}`, async () => {
      const { id, clientId } = await newStream();
      const { accessToken } = await makeApiClient(running.service, org, ["signet:organisation:write"]);
      const server = { SIGNET_SERVER: running.baseUrl, SIGNET_TOKEN: accessToken };
      const env = way === "a server" ? server : operator.env;
      const json = (words: string, ...more: string[]) => runForJson([...ofOrg(words), ...more], env);
      const { items } = await json("event-stream list");
      const [one, ...others] = items as ReadonlyArray<Record<string, unknown>>;
      assert.deepEqual([one?.["id"], one?.["clientId"], others], [id, clientId, []]);
      const paused = await json(`event-stream pause ${id}`, "--reason", "maintenance");
      assert.deepEqual([paused["status"], paused["statusReason"]], ["paused", "maintenance"]);
      assert.deepEqual(await json(`event-stream show ${id}`), paused);
      const enabled = await json(`event-stream resume ${id}`);
      assert.deepEqual([enabled["status"], enabled["statusReason"]], ["enabled", null]);
      assert.equal((await json(`event-stream verify ${id}`))["id"], id);
      const again = await runInProcess(ofOrg(`event-stream verify ${id}`), env);
      assert.deepEqual([again.code, /a moment ago/.test(again.err)], [1, true], again.err);
      assert.equal((await json(`event-stream disable ${id}`))["status"], "disabled");
      assert.deepEqual(await json(`event-stream delete ${id}`, "--yes"), { id, deleted: true });
      assert.equal((await runInProcess(ofOrg(`event-stream show ${id}`), env)).code, 1);
      assert.match((await runInProcess(ofOrg("event-stream list"), env)).out, /There are no event streams/);
    });
});
