import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { eventually } from "../../../testing/eventually.ts";
import { makeOrganisation, startTestService, type TestService } from "../../../testing/test-service.ts";
import { takeLease } from "../../housekeeping/housekeeping.store.ts";
import { outbound } from "../../outbound/outbound.ts";
import { recordAuditEvent } from "../audit.store.ts";
import { duringRequest } from "../audited-request.ts";
import { chainRound } from "../chain/chaining.ts";
import { chainKey } from "../chain/link.ts";
import { openDestination, RefusedLines, type SendLines } from "./destination.ts";
import { countUnsent, findStreamedSeq, movePosition } from "./stream.store.ts";
import { type AuditStreamDeps, startAuditStream } from "./stream.ts";

interface Line {
  readonly orgId: string;
  readonly seq: number;
  readonly action: string;
  readonly requestId?: string;
  readonly at: string;
}

const quick = { roundMs: 5, firstPauseMs: 5, maxPauseMs: 10, leaseMs: 30_000 };
const read = (lines: readonly string[]): Line[] => lines.map((line) => JSON.parse(line) as Line);

/** Whether each organisation's events come in order; an event may come again, with those after it. */
function assertOrdered(lines: readonly Line[]): void {
  const reached = new Map<string, number>();
  for (const { orgId, seq } of lines) {
    const before = reached.get(orgId) ?? seq - 1;
    assert.ok(seq <= before + 1, `${orgId}: ${seq} after ${before}`);
    reached.set(orgId, Math.max(before, seq));
  }
}

forEachDatabase(({ fresh }) => {
  let running: TestService;
  const orgs: string[] = [];
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    for (const name of ["One", "Two"])
      orgs.push((await makeOrganisation(running.service, name)).organisation.id);
    await chain();
  });
  after(() => running.close());

  const chain = async () => {
    const deps = { ...running.service, key: chainKey(Buffer.alloc(32, 1)) };
    const quiet = { moved: () => {}, failed: assert.ifError, isStopped: () => false };
    while ((await chainRound({ ...deps, ...quiet })) > 0);
  };
  const happen = async (count: number, requestId = "edge-1") => {
    for (let at = 0; at < count; at++)
      for (const orgId of orgs)
        await duringRequest({ requestId, userAgent: undefined }, () =>
          recordAuditEvent(running.service.database.query, {
            ...{ orgId, at: running.service.clock(), actor: "anonymous", action: "sign-in.failed" },
          }),
        );
    await chain();
  };
  const stream = (send: SendLines, more: Partial<AuditStreamDeps> = {}) =>
    startAuditStream({
      ...running.service,
      ...{ send, times: quick, onFailure: () => {}, onRecovery: () => {} },
      ...more,
    });
  const isDone = async () => (await countUnsent(running.service.database.query)) === 0;

  test("every event of every organisation is sent once, in order, with the request's id; later ones follow", async () => {
    await happen(250);
    const sent: Line[] = [];
    const stop = stream(async (_, lines) => void sent.push(...read(lines)));
    await eventually("all is sent", isDone);
    await happen(3, "edge-later");
    await eventually("what came later is sent", isDone);
    await stop();
    assertOrdered(sent);
    for (const orgId of orgs) {
      const seqs = sent.filter((line) => line.orgId === orgId).map(({ seq }) => seq);
      assert.deepEqual(
        seqs,
        Array.from(seqs, (_, at) => at + 1),
        "none is missing, none comes twice",
      );
      assert.ok(seqs.length > 253);
    }
    const last = sent.at(-1);
    assert.deepEqual([last?.action, last?.requestId], ["sign-in.failed", "edge-later"]);
    assert.match(last?.at ?? "", /^\d{4}-\d\d-\d\dT/);
  });

  test("a receiver that fails loses nothing, and is tried again after a pause", async () => {
    await happen(5);
    const sent: Line[] = [];
    const pauses: number[] = [];
    let recovered = 0;
    let failures = 4;
    const send: SendLines = async (_, lines) => {
      // It fails before or after it has taken the lines.
      if (failures % 2 === 0) sent.push(...read(lines));
      if (failures-- > 0) throw new Error("the receiver answered 503");
      sent.push(...read(lines));
    };
    const onFailure = (_: unknown, retrySeconds: number) => void pauses.push(retrySeconds);
    const stop = stream(send, { onFailure, onRecovery: () => recovered++ });
    await eventually("all is sent", isDone);
    await eventually("it has recovered", () => recovered === 1);
    await stop();
    assert.deepEqual(pauses, [0.005, 0.01, 0.01, 0.01]);
    assertOrdered(sent);
    for (const orgId of orgs)
      assert.equal(new Set(sent.filter((one) => one.orgId === orgId).map(({ seq }) => seq)).size, 5);
  });

  test("events that the receiver does not take keep no other organisation's from being sent", async () => {
    await happen(2);
    const [poisoned = "", other = ""] = orgs.toSorted();
    const sent: Line[] = [];
    let failures = 0;
    let isCured = false;
    const send: SendLines = async (orgId, lines) => {
      if (orgId === poisoned && !isCured) throw new RefusedLines("the receiver answered 400");
      sent.push(...read(lines));
    };
    const stop = stream(send, { onFailure: () => failures++ });
    await eventually("the other's are sent", () => sent.length === 2);
    await eventually("it is told, and tried again", () => failures > 1);
    assert.deepEqual(new Set(sent.map(({ orgId }) => orgId)), new Set([other]));
    isCured = true;
    await eventually("all is sent", isDone);
    await stop();
    assert.equal(sent.length, 4);
    assertOrdered(sent);
  });

  test("large events go in small batches, and an event that is larger than one goes alone", async () => {
    const [orgId = ""] = orgs;
    for (const letters of [100_000, 100_000, 100_000, 300_000, 1])
      await recordAuditEvent(running.service.database.query, {
        ...{ orgId, at: running.service.clock(), actor: "anonymous", action: "sign-in.failed" },
        details: { reason: "x".repeat(letters) },
      });
    await chain();
    const sizes: number[] = [];
    const stop = stream(async (_, lines) => void sizes.push(lines.length));
    await eventually("all is sent", isDone);
    await stop();
    assert.deepEqual(sizes, [2, 1, 1, 1]);
  });

  test("what was not sent when a server stopped is sent by the next one", async () => {
    await happen(2);
    const refuse = stream(async () => {
      throw new Error("away");
    });
    await refuse();
    assert.equal(await countUnsent(running.service.database.query), 4);
    const sent: Line[] = [];
    const stop = stream(async (_, lines) => void sent.push(...read(lines)));
    await stop();
    assert.equal(sent.length, 4);
    assert.ok(await isDone());
  });

  test("of two nodes one sends, and the other goes on when it has died", async () => {
    let now = running.service.clock();
    let looks = 0;
    const clock = () => {
      looks++;
      return now;
    };
    const by: string[] = [];
    const node = (name: string) =>
      stream(
        async (_, lines) => {
          by.push(...lines.map(() => name));
        },
        { clock, times: { ...quick, leaseMs: 1_000 } },
      );
    await happen(1);
    const stopFirst = node("first");
    await eventually("the first has sent", isDone);
    const stopSecond = node("second");
    await happen(3);
    await eventually("all is sent", isDone);
    assert.deepEqual(new Set(by), new Set(["first"]), "the lease is the first one's");
    await stopFirst();
    await happen(1);
    await eventually("the second goes on at once", isDone);
    assert.equal(by.at(-1), "second");
    await stopSecond();
    // One that dies gives nothing back.
    const { query } = running.service.database;
    const lease = { name: "audit-stream", holder: "dead", now, until: now + 1_000 };
    assert.ok(await takeLease(query, lease));
    await happen(1);
    looks = 0;
    const stopThird = node("third");
    await eventually("it has looked, and has not sent", async () => looks > 0);
    assert.ok(!(await isDone()), "the lease holds");
    now += 2_000;
    await eventually("the third goes on", isDone);
    await stopThird();
    assert.equal(by.at(-1), "third");
  });

  test("a position is moved only from where it is: another node may have sent meanwhile", async () => {
    const { query } = running.service.database;
    const [orgId = ""] = orgs;
    const streamedSeq = await findStreamedSeq(query, orgId);
    const ahead = { orgId, streamedSeq: streamedSeq + 1, seq: streamedSeq + 2 };
    assert.equal(await movePosition(query, ahead, streamedSeq + 2), false);
    assert.equal(await findStreamedSeq(query, orgId), streamedSeq);
  });
});

test("a file that is a link to another one is not written to", async () => {
  const folder = mkdtempSync(join(tmpdir(), "signet-stream-"));
  const [target, link] = [join(folder, "target"), join(folder, "audit.jsonl")];
  writeFileSync(target, "");
  symlinkSync(target, link);
  const send = openDestination({ kind: "file", path: link }, { outbound: outbound({ allow: [] }) });
  await assert.rejects(send("o", ["{}\n"]), { code: "ELOOP" });
  assert.equal(readFileSync(target, "utf8"), "");
  rmSync(folder, { recursive: true });
});

test("a file is for its owner alone, also one that was there, and half a line is left alone", async () => {
  const folder = mkdtempSync(join(tmpdir(), "signet-stream-"));
  const path = join(folder, "audit.jsonl");
  writeFileSync(path, '{"orgId":"o","se', { mode: 0o644 });
  const send = openDestination({ kind: "file", path }, { outbound: outbound({ allow: [] }) });
  await send("o", ['{"seq":1}\n', '{"seq":2}\n']);
  await send("o", ['{"seq":3}\n']);
  assert.equal(readFileSync(path, "utf8"), '{"orgId":"o","se\n{"seq":1}\n{"seq":2}\n{"seq":3}\n');
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const fresh = join(folder, "new.jsonl");
  await openDestination({ kind: "file", path: fresh }, { outbound: outbound({ allow: [] }) })("o", ["{}\n"]);
  assert.equal(statSync(fresh).mode & 0o777, 0o600);
  rmSync(folder, { recursive: true });
});

test("standard output gets whole lines, and a failed write is a failure", async () => {
  const written: string[] = [];
  const stdout = {
    write: (text: string, done: (error?: Error) => void) => {
      written.push(text);
      done(text.includes("bad") ? new Error("EPIPE") : undefined);
      return true;
    },
  } as unknown as NodeJS.WriteStream;
  const send = openDestination({ kind: "stdout" }, { outbound: outbound({ allow: [] }), stdout });
  await send("o", ["a\n", "b\n"]);
  assert.deepEqual(written, ["a\n", "b\n"]);
  await assert.rejects(send("o", ["bad\n"]), /EPIPE/);
});

test("a receiver is called under the rules for outbound calls, and only 2xx is taken as received", async (context) => {
  const got: Array<{ type: string | undefined; authorization: string | undefined; body: string }> = [];
  let status = 204;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { "content-type": type, authorization } = request.headers;
    got.push({ type, authorization, body });
    response.writeHead(status).end();
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  context.after(() => server.close());
  const { port } = server.address() as { port: number };
  const target = { kind: "https", url: `http://127.0.0.1:${port}/in`, authorization: "Basic eA==" } as const;
  await assert.rejects(
    openDestination(target, { outbound: outbound({ allow: [] }) })("o", ["{}\n"]),
    /forbidden/,
  );
  const send = openDestination(target, { outbound: outbound({ allow: ["127.0.0.1"] }) });
  await send("o", ["{}\n", "[]\n"]);
  assert.deepEqual(got, [
    { type: "application/x-ndjson; charset=utf-8", authorization: "Basic eA==", body: "{}\n[]\n" },
  ]);
  const notRefused = (error: Error) =>
    !(error instanceof RefusedLines) && /the receiver answered/.test(error.message);
  for (status of [302, 401, 500]) await assert.rejects(send("o", ["{}\n"]), notRefused);
  for (status of [400, 413, 422]) await assert.rejects(send("o", ["{}\n"]), RefusedLines);
});
