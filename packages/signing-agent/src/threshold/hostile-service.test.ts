/** A service between the agents and the real one that swaps bytes, says things twice and asks twice: each is named, nothing is signed by it. */
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { forEachDatabase } from "@signet/server/testing/databases";
import { credentials, postForm } from "@signet/server/testing/fixtures/client";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "@signet/server/testing/test-service";
import type { OpenAgent } from "../agent/open-agent.ts";
import {
  holdCeremony,
  makeThresholdWorld,
  replaceIn,
  type ThresholdWorld,
} from "../testing/threshold-machines.ts";
import type { Part, Round } from "./threshold-service.ts";

/** What an agent says, and what it hears, on its way: by path below `…/agent/threshold`. */
interface Lie {
  said?(place: string, body: Json): Json;
  heard?(place: string, body: Json): Json;
}
type Json = Record<string, unknown>;

forEachDatabase(({ empty }) => {
  let folder: string;
  let running: TestService;
  let org: TestOrganisation;
  let world: ThresholdWorld;
  let double: Server;
  let address: string;
  let lie: Lie = {};
  /** The last call of each kind, to be sent again. */
  const calls = new Map<
    string,
    { readonly url: string; readonly headers: Record<string, string>; readonly body: string }
  >();
  const agents: OpenAgent[] = [];

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-hostile-"));
    running = await startTestService({ databaseUrl: await empty() });
    org = await makeOrganisation(running.service);
    double = createServer(async (request, response) => {
      const text = Buffer.concat(await request.toArray()).toString();
      const place = /\/agent\/threshold(\/\w+)?/.exec(request.url ?? "")?.[1] ?? "";
      const changed = (body: string, by: Lie["said"]) =>
        body === "" || !by ? body : JSON.stringify(by(place, JSON.parse(body) as Json));
      const body = changed(text, lie.said);
      const headers = {
        authorization: String(request.headers.authorization),
        "content-type": "application/json",
      };
      const url = `${running.baseUrl}${request.url}`;
      const method = request.method ?? "";
      const answer = await fetch(url, { method, headers, ...(body === "" ? {} : { body }) }).catch(
        () => undefined,
      );
      if (!answer) return void response.destroy();
      // Once it is answered: sent again before, it would be the first.
      if (method === "POST") calls.set(place, { url, headers, body });
      response.writeHead(answer.status, { "content-type": "application/json" });
      response.end(changed(await answer.text(), answer.status === 200 ? lie.heard : undefined));
    });
    double.listen(0, "127.0.0.1");
    await once(double, "listening");
    address = `http://127.0.0.1:${(double.address() as AddressInfo).port}`;
    const threshold = { min: 2, max: 3 };
    world = await makeThresholdWorld({ running, org, folder, threshold, tokenWaitSeconds: 20 });
    await holdCeremony(world.machines);
    for (const machine of world.machines) {
      await replaceIn(machine, "agent.yaml", `service: ${running.baseUrl}`, `service: ${address}`);
      agents.push(await machine.start());
    }
    // Until all of them have stock and one pair has signed.
    while ((await askToken()).status !== 200);
  });
  after(async () => {
    lie = {};
    for (const agent of agents) await agent.stop();
    double.closeAllConnections();
    double.close();
    await running.close();
    await rm(folder, { recursive: true });
  });

  const askToken = () =>
    postForm(`${org.issuer}/token`, {
      ...{ grant_type: "client_credentials", scope: "jobs:run" },
      ...credentials(world.client),
    });
  const events = (action: string) =>
    running.service.database.query
      .selectFrom("audit_event")
      .select(["target"])
      .where("org_id", "=", org.organisation.id)
      .where("action", "=", action)
      .execute();
  const again = async (place: string) => {
    const call = calls.get(place);
    assert.ok(call, place);
    const answer = await fetch(call.url, { method: "POST", headers: call.headers, body: call.body });
    return { status: answer.status, body: (await answer.json()) as Json };
  };

  test("a commitment is taken once: said again, it is refused, and so is an older start", async () => {
    while (!String(calls.get("/commitments")?.body).includes("hiding")) await askToken();
    const { status, body } = await again("/commitments");
    assert.deepEqual([status, body["error"]], [409, "commitment_replayed"]);
    const call = calls.get("/commitments");
    assert.ok(call);
    const { boot } = JSON.parse(call.body) as { boot: { count: number } };
    const restored = {
      ...JSON.parse(call.body),
      boot: { count: boot.count, id: "A".repeat(22) },
      commitments: [],
    };
    calls.set("/commitments", { ...call, body: JSON.stringify(restored) });
    const older = await again("/commitments");
    assert.deepEqual([older.status, older.body["error"]], [409, "restored_backup"]);
  });

  test("two signatures with one commitment: the agent gives no second share", async () => {
    const seen = new Map<string, Round["commitments"]>();
    const refused: string[] = [];
    const refusals = new EventEmitter();
    let count = 0;
    lie = {
      // Each agent's first commitments, in every later round of its.
      heard: (place, body) => {
        if (place !== "/claim" && place !== "/shares") return body;
        const rounds = (body["rounds"] as Round[]).map((round) => {
          const members = (round.commitments.access_token ?? []).map(({ kid }) => kid).join();
          const first = seen.get(members) ?? round.commitments;
          seen.set(members, first);
          count += 1;
          return { ...round, commitments: first };
        });
        return { ...body, rounds };
      },
      said: (place, body) => {
        if (place === "/shares")
          for (const { rejection } of body["parts"] as Part[])
            if (rejection) {
              refused.push(rejection.detail);
              refusals.emit("one");
            }
        return body;
      },
    };
    assert.equal((await askToken()).status, 200, "the first of each pair is honest");
    // Nobody waits for the token that none signs.
    for (let attempt = 0; attempt < 3 && refused.length === 0; attempt++)
      await Promise.race([askToken(), once(refusals, "one")]);
    assert.ok(count > 2);
    assert.ok(refused.length > 0, "none was refused");
    for (const detail of refused) assert.match(detail, /is used, or of an earlier start|commitment/, detail);
    lie = {};
    while ((await askToken()).status !== 200);
  });

  test("a wrong share is named and replaced: the token is signed by the others", async () => {
    let swapped = 0;
    lie = {
      said: (place, body) => {
        if (place !== "/shares" || swapped > 0) return body;
        const parts = (body["parts"] as Part[]).map((part) => {
          const share = part.shares?.["access_token"];
          if (share === undefined || swapped > 0) return part;
          swapped += 1;
          const bytes = Buffer.from(share, "base64url");
          bytes[0] = (bytes[0] ?? 0) ^ 1;
          return { ...part, shares: { access_token: bytes.toString("base64url") } };
        });
        return { ...body, parts };
      },
    };
    const { status, body } = await askToken();
    assert.equal(swapped, 1);
    assert.equal(status, 200, JSON.stringify(body));
    const named = await events("signing-agent.share-refused");
    assert.equal(named.length, 1);
    lie = {};
    // It is out for ten minutes; the other two go on.
    assert.equal((await askToken()).status, 200);
  });

  test("a key ceremony that is ended says so", async () => {
    const [first] = world.machines;
    assert.ok(first);
    await replaceIn(first, "agent.yaml", `service: ${address}`, `service: ${running.baseUrl}`);
    assert.equal(await first.threshold("create", "--wait", "1"), 0, first.printed.join("\n"));
    assert.equal(await first.threshold("abort", "--reason", "moved"), 0, first.printed.join("\n"));
    assert.equal((await events("threshold-ceremony.aborted")).length, 1);
    assert.equal((await askToken()).status, 200, "the key in use stays");
  });
});
