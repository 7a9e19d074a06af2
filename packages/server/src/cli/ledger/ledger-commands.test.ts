/** `signet ledger`: witnesses as records, and any ledger looked at from outside, one that lies too. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { signingInputHash } from "@signet/protocol/ledger/entry";
import { newWitnessKey } from "../../testing/api-operations/api-ledger.ts";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { tokenFor } from "../../testing/fixtures/api-client.ts";
import { type LedgerHarness, ledgerHarness } from "../../testing/fixtures/ledger-harness.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let operator: OperatorSettings;
  let org: TestOrganisation;
  let ledger: LedgerHarness;
  let folder: string;
  before(async () => {
    const databaseUrl = await fresh();
    running = await startTestService({ databaseUrl });
    operator = await operatorSettings(databaseUrl);
    org = await makeOrganisation(running.service);
    ledger = ledgerHarness(running, org);
    await ledger.set({ ledger: "public" });
    folder = await mkdtemp(path.join(os.tmpdir(), "signet-ledger-"));
  });
  after(async () => {
    await running.close();
    await operator.remove();
    await rm(folder, { recursive: true });
  });
  const orgId = () => org.organisation.id;
  const ofOrg = (words: string, ...more: string[]) =>
    runForJson([...words.split(" "), ...more, "--org", orgId()], operator.env);
  const key = async () => (await ledger.get("/key")).text.trim();
  /** @param url of another server that stands for this one */
  const look = async (words: string, more: readonly string[] = [], url = running.baseUrl) => {
    const at = ["--url", `${url}/ledger/${orgId()}`, "--key", await key(), "--json"];
    const { code, out } = await runInProcess([...words.split(" "), ...at, ...more], operator.env);
    return { code, report: JSON.parse(out) as Record<string, unknown> };
  };
  const file = (name: string) => path.join(folder, name);

  test("witnesses are added, listed and removed, and the state is shown", async () => {
    const witness = ["--url", "https://witness.example", "--key", newWitnessKey()];
    const added = await ofOrg("ledger witness add", ...witness);
    const listed = await ofOrg("ledger witness list");
    assert.deepEqual(
      (listed["items"] as Array<{ id: string }>).map(({ id }) => id),
      [added["id"]],
    );
    await ofOrg(`ledger witness remove ${String(added["id"])}`, "--yes");
    assert.deepEqual((await ofOrg("ledger witness list"))["items"], []);
    const shown = await ofOrg("ledger show");
    assert.deepEqual([shown["mode"], shown["size"]], ["public", 0]);
  });

  test("a sound ledger is verified whole, and a token in it", async () => {
    const token = await tokenFor(org, org.batch);
    await ledger.grow();
    const { code, report } = await look("ledger verify");
    assert.deepEqual([code, report["ok"]], [0, true], JSON.stringify(report));
    await writeFile(file("token"), `${token}\n`);
    const found = await look("ledger verify", ["--jws", file("token")]);
    assert.equal(found.code, 0, JSON.stringify(found.report));
    await writeFile(file("other"), `${token.slice(0, 40)}x${token.slice(41)}`);
    const missing = await look("ledger verify", ["--jws", file("other")]);
    assert.deepEqual([missing.code, missing.report["error"]], [1, "unreachable"]);
  });

  test("too few witnesses, another key, and what is typed wrongly", async () => {
    const { code, report } = await look("ledger verify", ["--witness", newWitnessKey()]);
    assert.deepEqual([code, report["error"]], [1, "too-few-witnesses"]);
    const url = `${running.baseUrl}/ledger/${orgId()}`;
    const verify = (...more: string[]) => runInProcess(["ledger", "verify", ...more, "--json"], operator.env);
    const foreign = await verify("--url", url, "--key", newWitnessKey(1));
    assert.deepEqual([foreign.code, JSON.parse(foreign.out).error], [1, "bad-checkpoint"]);
    for (const wrong of [
      ["--url", "ftp://x", "--key", newWitnessKey(1)],
      ["--url", url, "--key", "x"],
      ["--url", url, "--key", newWitnessKey()],
      ["--url", url, "--key", newWitnessKey(1), "--quorum", "1"],
      ["--url", url, "--key", newWitnessKey(1), "--max-age", "0"],
    ])
      assert.equal((await verify(...wrong)).code, 2, wrong.join(" "));
  });

  /** A service between the monitor and the ledger, which changes what it passes on. */
  const liar = async (change: (path: string, body: Buffer) => Buffer) => {
    const server: Server = createServer((request, response) => {
      void fetch(`${running.baseUrl}${request.url}`).then(async (answer) => {
        const body = Buffer.from(await answer.arrayBuffer());
        response.writeHead(answer.status).end(answer.ok ? change(request.url ?? "", body) : body);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, close: () => new Promise((resolve) => server.close(resolve)) };
  };

  test("a service that swaps bytes, hides entries, or goes back is caught by name", async () => {
    await tokenFor(org, org.batch);
    await ledger.grow();
    const old = (await ledger.get("/checkpoint")).text;
    const state = ["--state", file("state.json")];
    assert.equal((await look("ledger monitor", state)).code, 0);
    await tokenFor(org, org.batch);
    await ledger.grow();
    const cases: ReadonlyArray<readonly [string, (path: string, body: Buffer) => Buffer]> = [
      ["forked", (at, body) => (at.includes("/tile/") ? replaced(body, '"time":1', '"time":2') : body)],
      ["bad-entries", (at, body) => (at.includes("/tile/") ? body.subarray(0, 10) : body)],
      ["bad-entries", (at, body) => (at.includes("/tile/") ? replaced(body, '"v":1', '"v":2') : body)],
      ["rolled-back", (at, body) => (at.endsWith("/checkpoint") ? Buffer.from(old) : body)],
      [
        "bad-signature",
        (at, body) => (at.endsWith("/checkpoint") ? replaced(body, "\n2\n", "\n9\n", /\n\d+\n/) : body),
      ],
      ["bad-checkpoint", (at, body) => (at.endsWith("/checkpoint") ? Buffer.from("x\n") : body)],
    ];
    assert.equal((await look("ledger monitor", state)).code, 0);
    for (const [expected, change] of cases) {
      const between = await liar(change);
      const fresh = expected === "rolled-back" ? state : ["--state", file(`${Math.random()}.json`)];
      const { code, report } = await look("ledger monitor", fresh, between.url);
      await between.close();
      assert.deepEqual([code, report["error"]], [1, expected]);
    }
    const again = await look("ledger monitor", state);
    assert.deepEqual([again.code, again.report["entries"]], [0, 0], "what lied left the state as it was");
  });

  test("agents' journals and the ledger are compared in both directions", async () => {
    const { size } = await ledger.checkpoint();
    assert.ok(size > 0);
    const token = await tokenFor(org, org.batch);
    await ledger.grow();
    const { kid } = (await ledger.prove(token)).entry;
    const line = (inputSha256: string, of = kid) =>
      `${JSON.stringify({ event: "signed", kid: of, inputSha256, time: new Date(Date.now() - 60_000).toISOString() })}\n`;
    const monitor = async (journal: string) => {
      await writeFile(file("journal"), journal);
      return look("ledger monitor", ["--state", file("journals.json"), "--journal", file("journal")]);
    };
    const unknown = await monitor(line("A".repeat(43)));
    assert.equal(unknown.code, 1, "the ledger has signatures of that key, which the journal does not know");
    assert.ok((unknown.report["unknown"] as string[]).includes(signingInputHash(token)));
    const { code, report } = await monitor(`${line("A".repeat(43), "other-key")}half a li`);
    assert.deepEqual(
      [code, report["unknown"]],
      [0, []],
      "before the ledger's first entry nothing is missing",
    );
  });
});

/** @param pattern what is replaced; default: the text itself */
const replaced = (body: Buffer, text: string, by: string, pattern: RegExp | string = text): Buffer =>
  Buffer.from(body.toString("latin1").replace(pattern, by), "latin1");
