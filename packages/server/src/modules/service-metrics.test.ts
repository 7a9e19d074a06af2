import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { POLL } from "../core/event-streams/event-stream.ts";
import { createStream } from "../core/event-streams/event-streams.ts";
import { changeStreamStatus } from "../core/event-streams/stream-status.ts";
import { openExposition } from "../telemetry/exposition.ts";
import { forEachDatabase } from "../testing/databases.ts";
import { type FakeClock, fakeClock } from "../testing/fakes/fake-clock.ts";
import { type StandInReplica, standInReplica } from "../testing/fakes/stand-in-replica.ts";
import { newWebhookWithDeliveries } from "../testing/fixtures/webhook.ts";
import { familyNames, readScrape } from "../testing/scrape.ts";
import { makeClient, makeOrganisation, startTestService, type TestService } from "../testing/test-service.ts";
import { serviceMetrics } from "./service-metrics.ts";

const deploy = new URL("../../../../deploy/", import.meta.url);

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let replica: StandInReplica;
  before(async () => {
    clock = fakeClock();
    const databaseUrl = await fresh();
    replica = standInReplica(databaseUrl);
    running = await startTestService({ databaseUrl, clock, replica });
    const { issuer } = await makeOrganisation(running.service);
    // The first key is made when it is asked for.
    assert.equal((await fetch(`${issuer}/.well-known/jwks.json`)).status, 200);
  });
  after(async () => {
    await replica.close();
    await running.close();
  });

  /** What a service tells that has not been asked before. */
  const read = async () => {
    const exposition = openExposition(serviceMetrics(running.service));
    const seen = readScrape(await exposition.text());
    exposition.close();
    return seen;
  };
  const run = (text: string) => sql.raw(text).execute(running.service.database.query);

  test("the outbox: how much is on its way, and for how long; what is delivered or given up is not", async () => {
    const [org] = (await run("select id from organisation")).rows as { id: string }[];
    const at = clock();
    const insert = (id: string, createdAt: number, sent = "null", failed = "null") =>
      run(`insert into outgoing_mail (org_id, id, recipient, template, locale, data, attempts, next_attempt_at, give_up_at,
        created_at, sent_at, failed_at) values ('${org?.id}', '${id}', 'a@b.example', 'x', 'en', '', 0, ${at}, ${at}, ${createdAt}, ${sent}, ${failed})`);
    assert.equal((await read()).sum("signet_outbox_messages"), 0);
    await insert("one", at - 90_000);
    await insert("two", at - 10_000);
    await insert("sent", at - 900_000, String(at));
    await insert("failed", at - 900_000, "null", String(at));
    const seen = await read();
    assert.equal(seen.sum("signet_outbox_messages"), 2);
    assert.equal(seen.sum("signet_outbox_oldest_age_seconds"), 90);
  });

  test("events: how many wait for whom, and for how long; streams by their status", async () => {
    const org = await makeOrganisation(running.service);
    const { webhooks } = await newWebhookWithDeliveries(running.service, org.organisation.id, "a.example");
    const act = { orgId: org.organisation.id, actor: "test" };
    const settings = { grantTypes: ["client_credentials"] as const, allowedScopes: ["ssf.manage"] };
    const { application } = await makeClient(running.service, org.organisation, settings);
    const polled = { method: POLL, endpointUrl: null, eventsRequested: [], description: null };
    const { id } = await createStream(running.service, { ...act, client: application, settings: polled });
    await changeStreamStatus(running.service, { ...act, id, status: "paused", reason: null });
    clock.advance(30_000);
    const seen = await read();
    const of = (name: string, label: string) => seen.sum(name, label);
    assert.deepEqual(
      ["enabled", "paused", "disabled"].map((status) => of("signet_event_streams", `status="${status}"`)),
      [0, 1, 0],
    );
    // One of the webhook's three is neither delivered nor given up; the stream has the word of its pause.
    assert.ok(webhooks);
    for (const [kind, count, age] of [
      ["webhook", 1, 30],
      ["ssf-push", 0, 0],
      ["ssf-poll", 1, 30],
    ] as const) {
      assert.equal(of("signet_event_deliveries", `kind="${kind}"`), count, kind);
      assert.equal(of("signet_event_deliveries_oldest_age_seconds", `kind="${kind}"`), age, kind);
    }
  });

  test("the oldest key ages, and certificates come to their end", async () => {
    const since = (
      (await run("select min(active_from) as since from signing_key")).rows as { since: number }[]
    )[0];
    const expected = (clock() - Number(since?.since)) / 1_000;
    const before = await read();
    assert.equal(before.sum("signet_signing_key_age_seconds"), expected);
    clock.advance(86_400_000);
    assert.equal((await read()).sum("signet_signing_key_age_seconds"), expected + 86_400);
  });

  test("audit events that are not chained are counted", async () => {
    const unchained = (await run("select count(*) as n from audit_event where seq is null")).rows as {
      n: number;
    }[];
    assert.ok(Number(unchained[0]?.n) > 0);
    assert.equal((await read()).sum("signet_audit_lag_events"), Number(unchained[0]?.n));
  });

  test("connections to the database are told, and the change feed is heard", async () => {
    const seen = await read();
    assert.ok(seen.sum("signet_database_connections") >= 1);
    assert.ok(seen.sum("signet_change_feed_lag_seconds") < 5);
  });

  test("a replica: whether it is read from, and by how much a read there may be old", async () => {
    const seen = await read();
    assert.equal(seen.sum("signet_replica_usable"), 1);
    assert.match(seen.text, /^signet_replica_lag_seconds 0$/m);
  });

  test("every metric of the dashboard and of the alerts is one that the service has", async () => {
    const { types } = await read();
    const known = new Set([...types.keys(), ...familyNames, "signet_organisation_requests_total"]);
    for (const file of ["grafana/signet.json", "prometheus/alerts.yaml", "prometheus/alerts.test.yaml"]) {
      const text = await readFile(new URL(file, deploy), "utf8");
      const named = new Set(text.match(/\b(?:signet|nodejs|process)_[a-z0-9_]+/g));
      const own = [...named].map((name) =>
        known.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, ""),
      );
      assert.ok(own.length > 10, file);
      assert.deepEqual(
        own.filter((name) => !known.has(name)),
        [],
        file,
      );
    }
  });

  test("every family of the service is on the dashboard", async () => {
    const text = await readFile(new URL("grafana/signet.json", deploy), "utf8");
    for (const name of familyNames) {
      const shown = name === "nodejs_eventloop_lag_seconds" ? "nodejs_eventloop_lag" : name;
      assert.ok(text.includes(shown), name);
    }
  });
});
