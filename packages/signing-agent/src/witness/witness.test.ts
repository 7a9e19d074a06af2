// `signet-agent witness` over HTTP: each answer of C2SP tlog-witness, and a memory that never goes back.
import assert from "node:assert/strict";
import { once } from "node:events";
import { chmod, copyFile, mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, beforeEach, describe, test } from "node:test";
import { parseSignedCheckpoint } from "@signet/protocol/ledger/checkpoint";
import { cosignedAt, parseNote, parseVerifierKey } from "@signet/protocol/ledger/note";
import { runAgentCommandLine } from "../commands/agent-command-line.ts";
import { createWitness, setWitnessLogs, witnessLog } from "../testing/witness-log.ts";
import { type OpenWitness, openWitness } from "./open-witness.ts";
import { openWitnessState } from "./witness-state.ts";

describe("signet-agent witness", () => {
  let root: string;
  let count = 0;
  let folder: string;
  let config: string;
  let verifierKey: string;
  let witness: OpenWitness;
  const now = 1_800_000_000_000;
  const logged: Array<readonly [message: string, fields: unknown]> = [];
  const log = witnessLog("log.example/a");
  const start = () =>
    openWitness(config, { log: (_, message, fields) => logged.push([message, fields]), clock: () => now });
  before(async () => {
    root = await mkdtemp(path.join(tmpdir(), "signet-witness-"));
  });
  after(async () => {
    await witness.stop();
    await rm(root, { recursive: true });
  });
  beforeEach(async () => {
    if (count > 0) await witness.stop();
    logged.length = 0;
    folder = path.join(root, String(++count));
    ({ config, verifierKey } = await createWitness(folder, [log.verifierKey]));
    witness = await start();
  });
  const send = (body: string | Uint8Array<ArrayBuffer>) =>
    fetch(`http://127.0.0.1:${witness.port}/add-checkpoint`, { method: "POST", body });
  const status = async (body: string | Uint8Array<ArrayBuffer>) => (await send(body)).status;

  test("cosigns the first tree, its continuation, and the same one again, at its own time", async () => {
    const key = parseVerifierKey(verifierKey);
    assert.ok(key);
    for (const [old, size] of [
      ...[
        [0, 5],
        [5, 5],
        [5, 300],
      ],
      ...[
        [300, 300],
        [300, 1_000],
      ],
    ] as const) {
      const answer = await send(await log.asked(old ?? 0, size ?? 0));
      assert.equal(answer.status, 200);
      const note = parseNote(`${log.checkpoint(size ?? 0)}${await answer.text()}`);
      assert.ok(note && note.signatures.length === 2);
      assert.equal(cosignedAt(note, key), now / 1_000);
    }
  });

  test("every refusal has its status, and moves nothing", async () => {
    assert.equal(await status(await log.asked(0, 5)), 200);
    const proven = await log.asked(5, 300);
    const conflict = await send(await log.asked(0, 300));
    assert.equal(conflict.status, 409);
    assert.equal(conflict.headers.get("content-type"), "text/x.tlog.size");
    assert.equal(await conflict.text(), "5\n");
    assert.equal(await status(await log.asked(3, 300)), 409);
    assert.equal(await status(await log.asked(6, 300)), 409);
    assert.equal(await status(await log.asked(3, 4)), 409, "an older tree");
    assert.equal(await status(await log.asked(6, 5)), 400, "an old size above the new one");
    assert.equal(await status(await log.asked(5, 5, "other")), 409, "another root of the same size");
    assert.equal(await status(await log.asked(5, 300, "other")), 422);
    assert.equal(await status(proven.replace(/^old 5\n[^\n]+\n/, "old 5\n")), 422, "a proof cut short");
    assert.equal(await status(await witnessLog("log.example/b").asked(0, 5)), 404);
    assert.equal(await status(await witnessLog("log.example/a").asked(5, 300)), 403, "another key");
    assert.equal(await status(proven), 200, "none of them has moved it");
  });

  test("what is malformed is 400, what is long 413, another path 404, another method 405", async () => {
    const good = await log.asked(0, 5);
    const malformed = [
      ...["", "\n", "old 0", "old 0\n\n", good.replace("old 0", "old 00"), good.replace("old 0", "old -1")],
      ...[good.replace("old 0", "old  0"), good.replace("old 0", "size 0"), good.replaceAll("\n", "\r\n")],
      ...[good.replace("old 0\n", "old 0\nnot base64\n"), good.replace("\n5\n", "\n05\n"), good.slice(0, -1)],
      `old 0\n${`${Buffer.alloc(32).toString("base64")}\n`.repeat(64)}${good.slice(6)}`,
    ];
    for (const body of malformed) assert.equal(await status(body), 400, JSON.stringify(body.slice(0, 60)));
    const bytes = Buffer.from(good);
    bytes[bytes.indexOf("log.example")] = 0xff;
    assert.equal(await status(new Uint8Array(bytes)), 400, "no UTF-8");
    assert.equal(await status("x".repeat(80_000)), 413);
    const at = (place: string, method = "GET") =>
      fetch(`http://127.0.0.1:${witness.port}${place}`, { method }).then(({ status }) => status);
    assert.deepEqual(
      [
        await at("/healthz"),
        await at("/"),
        await at("/add-checkpoint"),
        await at("/add-checkpoint/", "POST"),
      ],
      [200, 404, 405, 404],
    );
    // A caller that goes away in the middle of its body.
    const socket = connect(witness.port, "127.0.0.1");
    await once(socket, "connect");
    socket.write("POST /add-checkpoint HTTP/1.1\r\nhost: w\r\ncontent-length: 500\r\n\r\nold 0\n");
    socket.destroy();
    assert.equal(await status(good), 200);
  });

  test("of two histories at once one is cosigned, and the log's two signatures are kept as evidence", async () => {
    const bodies = [await log.asked(0, 9), await log.asked(0, 9, "other")];
    const answers = await Promise.all([...bodies, ...bodies].map((body) => status(body)));
    assert.deepEqual(answers.toSorted(), [200, 409, 409, 409]);
    assert.equal(await status(await log.asked(9, 20, "entry")), 200);
    assert.equal(await status(await log.asked(20, 30, "other")), 422);
    const [, fields] = logged.at(-1) ?? [];
    const { checkpoint } = fields as { checkpoint: string };
    assert.equal(parseSignedCheckpoint(checkpoint)?.size, 30);
  });

  test("remembers over a restart, and starts with no state but its own", async () => {
    assert.equal(await status(await log.asked(0, 300)), 200);
    await witness.stop();
    witness = await start();
    assert.equal(await (await send(await log.asked(0, 5))).text(), "300\n");
    const stateFile = path.join(folder, "witness.db");
    await copyFile(stateFile, `${stateFile}.kept`);
    await rm(stateFile);
    await assert.rejects(start(), /is missing: a witness that has forgotten/);
    const other = await createWitness(path.join(root, `${count}-other`), [], "w.example/2");
    await copyFile(path.join(path.dirname(other.config), "witness.db"), stateFile);
    await assert.rejects(start(), /the state of another witness: w\.example\/2\+/);
    await rm(stateFile);
    new DatabaseSync(stateFile).close();
    await assert.rejects(start(), /not the state of a witness/);
    await copyFile(`${stateFile}.kept`, stateFile);
    await chmod(path.join(folder, "witness-key.pem"), 0o644);
    await assert.rejects(start(), /can be read by others/);
  });

  test("the file itself refuses a step back", () => {
    const state = openWitnessState(path.join(folder, "witness.db"), verifierKey);
    const [root, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const keep = (size: number, of: Buffer) =>
      state.transaction(() => state.keep("log.example/a", { size, root: of }));
    keep(9, root);
    keep(9, root);
    assert.throws(() => keep(8, root), /only grows/);
    assert.throws(() => keep(9, other), /only grows/);
    state.close();
    const database = new DatabaseSync(path.join(folder, "witness.db"));
    assert.throws(() => database.exec("DELETE FROM trees"), /never forgotten/);
    assert.equal(database.prepare("SELECT size FROM trees").get()?.["size"], 9);
    database.close();
  });

  test("cosigns nothing that it cannot keep", async () => {
    const database = new DatabaseSync(path.join(folder, "witness.db"));
    database.exec("CREATE TRIGGER full BEFORE INSERT ON trees BEGIN SELECT RAISE(ABORT, 'full'); END");
    assert.equal(await status(await log.asked(0, 5)), 500);
    database.exec("DROP TRIGGER full");
    database.close();
    assert.equal(await status(await log.asked(0, 5)), 200);
  });

  test("logs are read anew on request; a faulty file changes nothing", async () => {
    const other = witnessLog("log.example/b");
    assert.equal(await status(await other.asked(0, 5)), 404);
    await setWitnessLogs(config, [log.verifierKey, other.verifierKey]);
    await witness.reload();
    assert.equal(await status(await other.asked(0, 5)), 200);
    await setWitnessLogs(config, [verifierKey]);
    await witness.reload();
    assert.match(JSON.stringify(logged.at(-1)), /logs\.0 must be a log's key, of type 1/);
    assert.equal(await status(await other.asked(5, 6)), 200);
  });

  test("create overwrites nothing, and show says what was cosigned", async () => {
    assert.equal(await status(await log.asked(0, 300)), 200);
    const lines: string[] = [];
    const say = (line: string) => void lines.push(line);
    const run = (...words: string[]) =>
      runAgentCommandLine(["witness", ...words], {
        ...{ print: say, printError: say, clock: Date.now, terminal: undefined, onSignal: () => {} },
      });
    assert.equal(await run("show", "--config", config), 0);
    assert.deepEqual(lines, [verifierKey, "log.example/a  300"]);
    assert.equal(await run("create", "--name", "w.example/1", "--dir", folder), 1);
    assert.equal(await run("create", "--name", "w example", "--dir", path.join(root, "no")), 2);
  });
});
