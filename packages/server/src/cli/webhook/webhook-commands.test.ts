/** Webhooks and `signet listen` by the command line. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, test } from "node:test";
import { recordAuditEvent } from "../../core/audit/audit.store.ts";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { type EventReceiver, startEventReceiver } from "../../testing/fakes/event-receiver.ts";
import { makeApiClient } from "../../testing/fixtures/api-client.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { UsageError } from "../command.ts";
import { httpTransport } from "../remote/http-transport.ts";
import { recordApi } from "../remote/record-api.ts";
import { listen } from "./listen.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let operator: OperatorSettings;
  let org: TestOrganisation;
  let receiver: EventReceiver;
  before(async () => {
    const databaseUrl = await fresh();
    running = await startTestService({ databaseUrl });
    operator = await operatorSettings(databaseUrl);
    org = await makeOrganisation(running.service);
    receiver = await startEventReceiver();
  });
  after(async () => {
    await running.close();
    await operator.remove();
    await receiver.close();
  });
  const ofOrg = (words: string) => [...words.split(" "), "--org", org.organisation.id];

  test("webhooks are made, changed, rotated, tested, replayed and deleted", async () => {
    const json = (words: string, ...more: string[]) => runForJson([...ofOrg(words), ...more], operator.env);
    const url = ["--url", "https://app.example/hooks"];
    const made = await json("webhook create", ...url, "--event", "user.*", "--event", "scope.created");
    assert.match(String(made["secret"]), /^whsec_/);
    const id = String(made["id"]);
    const changed = await json(`webhook update ${id}`, "--event", "*");
    assert.deepEqual([changed["events"], changed["secret"]], [["*"], undefined]);
    const rotated = await json(`webhook rotate-secret ${id}`, "--overlap", "60");
    assert.notEqual(rotated["secret"], made["secret"]);
    const tried = await json(`webhook test ${id}`);
    const waiting = await json(`webhook deliveries ${id}`, "--state", "pending");
    const items = waiting["items"] as ReadonlyArray<{ id: string; type: string }>;
    assert.deepEqual(
      items.map((one) => [one.id, one.type]),
      [[tried["id"], "webhook.test"]],
    );
    const again = await json(`webhook resend ${tried["id"]}`, "--webhook", id);
    assert.equal(again["state"], "pending");
    const replayed = await json(
      `webhook replay ${id}`,
      "--from",
      "2020-01-01T00:00:00Z",
      "--to",
      "2020-01-02T00:00:00Z",
    );
    assert.deepEqual(replayed, { count: 0 });
    assert.equal((await json(`webhook update ${id}`, "--disable"))["enabled"], false);
    assert.equal((await json("webhook list"))["more"], false);
    await json(`webhook delete ${id}`, "--yes");
    const { code, err } = await runInProcess(ofOrg(`webhook deliveries ${id}`), operator.env);
    assert.equal(code, 1, err);
    const wrong = await runInProcess(
      [...ofOrg(`webhook update ${id}`), "--enable", "--disable"],
      operator.env,
    );
    assert.equal(wrong.code, 2);
  });

  const listening = async (url: string, more: Readonly<Record<string, string[]>> = {}) => {
    const client = await makeApiClient(running.service, org, ["signet:audit:read"]);
    const transport = httpTransport(running.baseUrl, async () => client.accessToken);
    const printed: string[] = [];
    const print = (line: string) => void printed.push(line);
    const io = { print, printError: print, readSecret: async () => "", confirm: async () => undefined };
    const stop = new AbortController();
    const values = { "forward-to": url, ...more };
    const call = { io, values, positionals: [], api: recordApi(transport, org.organisation.id) };
    return { printed, stop, done: listen(call, stop.signal) };
  };
  const happen = (action: "scope.created" | "scope.changed", target: string) =>
    recordAuditEvent(running.service.database.query, {
      ...{ orgId: org.organisation.id, at: running.service.clock(), actor: "operator", action, target },
    });

  test("listen sends what happens from then on as a webhook would, signed with what it prints, until it is stopped", async () => {
    await happen("scope.created", "before");
    // As a developer types it.
    const address = receiver.url.replace("http://", "");
    const { printed, stop, done } = await listening(address, { event: ["scope.created"] });
    await eventually("it listens", () => printed.length >= 2);
    await happen("scope.created", "s1");
    await happen("scope.changed", "s1");
    await happen("scope.created", "s2");
    await eventually("both have come", () => receiver.received.length === 2);
    stop.abort();
    assert.equal(await done, 0);
    const bodies = receiver.received.map(({ body }) => JSON.parse(body));
    assert.deepEqual(
      bodies.map(({ type, data }) => [type, data.target, data.actor, data.organisation]),
      ["s1", "s2"].map((target) => ["scope.created", target, "operator", org.organisation.id]),
    );
    const [{ headers, body } = { headers: {}, body: "" }] = receiver.received;
    const secret = /whsec_(\S+)/.exec(printed[1] ?? "")?.[1] ?? "";
    const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
    const mac = createHmac("sha256", Buffer.from(secret, "base64")).update(signed).digest("base64");
    assert.equal(headers["webhook-signature"], `v1,${mac}`);
  });

  test("listen goes on when nobody answers, and refuses what is no address or event", async () => {
    const { printed, stop, done } = await listening("http://127.0.0.1:1/");
    await eventually("it listens", () => printed.length >= 2);
    await happen("scope.created", "s3");
    await eventually("it tells", () => printed.length >= 3);
    assert.match(printed[2] ?? "", /scope\.created .*: /);
    stop.abort();
    assert.equal(await done, 0);
    for (const address of ["ftp://localhost/", "mailto:a@b.example", "local host"])
      await assert.rejects((await listening(address)).done, UsageError, address);
    await assert.rejects((await listening(receiver.url, { event: ["x"] })).done, UsageError);
  });

  test("listen takes the only organisation, and asks for one where there are several", async () => {
    const refused = () => runInProcess(["listen", "--forward-to", "ftp://localhost/"], operator.env);
    assert.match((await refused()).err, /--forward-to must be an http or https URL/);
    await runForJson(["org", "create", "--name", "Another"], operator.env);
    const { code, err } = await refused();
    assert.equal(code, 2);
    assert.match(err, /--org is required: there are several organisations/);
  });
});
