import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { sql } from "kysely";
import { readConfig } from "../../config/config.ts";
import { chainOrganisation } from "../../core/audit/chain/chaining.ts";
import { cutBatch } from "../../core/audit/retention/cut-chain.ts";
import { type Database, openDatabase } from "../../db/open.ts";
import { openService } from "../../modules/open-service.ts";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";

const documentation = join(import.meta.dirname, "../../../../../docs/security.md");

forEachDatabase(({ fresh }) => {
  let settings: OperatorSettings;
  let database: Database;
  let org: string;
  before(async () => {
    const url = await fresh();
    settings = await operatorSettings(url);
    org = String((await runForJson(["org", "create", "--name", "Acme"], settings.env))["id"]);
    await runForJson(
      [
        "app",
        "create",
        "--org",
        org,
        "--name",
        "=SUM(A1)",
        "--type",
        "confidential",
        "--grant",
        "client_credentials",
      ],
      settings.env,
    );
    const person = ["user", "create", "--org", org, "--email", "ada@acme.example"];
    await runForJson(person, settings.env, "correct horse battery staple");
    database = openDatabase(url);
  });
  after(async () => {
    await database.close();
    await settings.remove();
  });

  const here = (...args: string[]) => runInProcess(["audit", ...args], settings.env);
  const run = (text: string) => sql.raw(text).execute(database.query);

  test("chains pending events, and reports their number and the chain head", async () => {
    const { code, out } = await here("verify", "--org", org);
    assert.equal(code, 0, out);
    assert.match(out, /^Acme \(.*\): \d+ events, all intact\.$/m);
    assert.match(out, /^ {2}\d+ pending events were added to the chain first\.$/m);
    const again = JSON.parse((await here("verify", "--json")).out);
    const [report] = again.organisations;
    assert.deepEqual([again.ok, report.orgId, report.chainedNow, report.unchained], [true, org, 0, 0]);
    assert.match(out, new RegExp(`Chain head: ${report.head.seq}:${report.head.hash}`));
  });

  test("compares the chain with a recorded head", async () => {
    const { head } = JSON.parse((await here("verify", "--json")).out).organisations[0];
    const expecting = (end: string) => here("verify", "--org", org, "--expect", end);
    assert.equal((await expecting(`${head.seq}:${head.hash}`)).code, 0);
    const later = await expecting(`${head.seq + 5}:${head.hash}`);
    assert.deepEqual([later.code, /head given by --expect/.test(later.out)], [1, true]);
    assert.equal((await expecting(`1:${head.hash}`)).code, 1);
    for (const wrong of ["nonsense", "0:abc", `${head.seq}`])
      assert.equal((await expecting(wrong)).code, 2, wrong);
    assert.equal(
      (await here("verify", "--expect", `${head.seq}:${head.hash}`)).code,
      2,
      "of one organisation",
    );
  });

  test("filters events by actor, event, target and time, as text and JSON", async () => {
    const shown = async (...args: string[]) => {
      const { items } = await runForJson<{ items: Array<{ action: string }> }>(
        ["audit", "list", "--org", org, ...args],
        settings.env,
      );
      return items.map(({ action }) => action);
    };
    assert.deepEqual(await shown("--what", "application."), ["application.created"]);
    assert.deepEqual(await shown("--what", "user.created", "--who", "operator"), ["user.created"]);
    assert.deepEqual(await shown("--on", org, "--what", "organisation."), ["organisation.created"]);
    assert.deepEqual(await shown("--who", "nobody@acme.example"), []);
    const ofApplication = await shown("--search", "=sum(a1)");
    assert.deepEqual(ofApplication, ["client-secret.created", "application.created"]);
    assert.deepEqual(await shown("--search", "ada@acme.example", "--what", "user."), ["user.created"]);
    assert.deepEqual(await shown("--to", "2001-01-01"), []);
    assert.equal((await shown("--limit", "1")).length, 1);
    const { out } = await here("list", "--org", org);
    assert.match(out, /^TIME +ACTOR +EVENT/);
    assert.equal((await here("list", "--org", org, "--what", "nonsense")).code, 2);
    assert.equal((await here("list", "--org", org, "--from", "yesterday")).code, 2);
  });

  test("exports CSV without formula injection, and audits the export", async () => {
    await run(`update audit_event set target = '=cmd()' where action = 'application.created'`);
    const { code, out } = await here("export", "--org", org, "--format", "csv");
    await run(
      `update audit_event set target = (select id from application) where action = 'application.created'`,
    );
    assert.equal(code, 0);
    const lines = out.split("\r\n");
    assert.equal(
      lines[0],
      "seq,hash,id,at,actor,action,target,address,details,applicationId,browser,requestId,reason,typedEmail",
    );
    assert.match(out, /,application\.created,'=cmd\(\),/);
    assert.match(lines.at(-2) ?? "", /,operator,audit\.exported,/);
    assert.match(lines.at(-2) ?? "", /"\{""format"":""csv"",""filters"":\[\]\}",,,,,$/);
    assert.equal((await here("export", "--org", org, "--format", "xml")).code, 2);
  });

  test("exports events that the script in docs/security.md verifies, and rejects a changed export", async () => {
    const snippet = /```js\n(\/\/ verify-export\.mjs[\s\S]*?)```/.exec(
      await readFile(documentation, "utf8"),
    )?.[1];
    assert.ok(snippet);
    assert.ok(snippet.trimEnd().split("\n").length <= 20);
    const { organisations } = JSON.parse((await here("verify", "--json")).out);
    const { out } = await here("export", "--org", org, "--format", "jsonl");
    const check = (lines: string) => {
      const running = promisify(execFile)(process.execPath, ["--input-type=module", "-e", snippet]);
      running.child.stdin?.end(lines);
      return running;
    };
    const { head } = organisations[0];
    assert.equal((await check(out)).stdout.trim(), `${head.seq}:${head.hash}`);
    await assert.rejects(
      check(out.replace("user.created", "user.deleted")),
      /event \d+ is not what was chained/,
    );
  });

  test("says what retention cut, and the documented script begins there", async () => {
    const id = String((await runForJson(["org", "create", "--name", "Cut"], settings.env))["id"]);
    await runForJson(["app", "create", "--org", id, "--name", "A", "--type", "spa"], settings.env);
    const service = await openService(readConfig(settings.env), { onError: assert.ifError });
    const chain = { database: service.database, clock: service.clock, key: service.chainKey };
    await chainOrganisation(chain, id);
    const cut = { orgId: id, before: Date.now() + 60_000, months: 1, isFirst: true };
    assert.equal(await cutBatch(chain, cut, 1), 1);
    await service.close();
    const { code, out } = await here("verify", "--org", id);
    assert.equal(code, 0, out);
    assert.match(out, /^Cut \(.*\): [2-9] events, all intact\.$/m, "the others, and that of the cut");
    assert.match(out, /^ {2}Events 1 to 1, until [\dT:.-]+Z, were deleted by the retention policy, last on/m);
    const [report] = JSON.parse((await here("verify", "--org", id, "--json")).out).organisations;
    assert.deepEqual([report.cut.seq, report.cut.events, report.events], [1, 1, report.head.seq - 1]);
    const old = await here("verify", "--org", id, "--expect", `1:${"x".repeat(43)}`);
    assert.deepEqual([old.code, /head given by --expect/.test(old.out)], [1, true]);
    const exported = await here("export", "--org", id, "--format", "jsonl");
    const snippet = /```js\n(\/\/ verify-export\.mjs[\s\S]*?)```/.exec(
      await readFile(documentation, "utf8"),
    )?.[1];
    const check = (...from: string[]) => {
      const args = ["--input-type=module", "-e", snippet ?? "", ...from];
      const running = promisify(execFile)(process.execPath, args);
      running.child.stdin?.end(exported.out);
      return running;
    };
    const { head } = report;
    const begin = `${report.cut.seq}:${report.cut.hash}`;
    // Where a file's name would be, `-e` has the first argument.
    assert.equal((await check("verify-export.mjs", begin)).stdout.trim(), `${head.seq}:${head.hash}`);
    await assert.rejects(check(), /event 1 is not what was chained/);
    await run(`update audit_checkpoint set events = 7 where org_id = '${id}'`);
    const forged = await here("verify", "--org", id);
    assert.deepEqual([forged.code, /was not signed by this master key/.test(forged.out)], [1, true]);
    await run(`delete from audit_checkpoint where org_id = '${id}'`);
    assert.match((await here("verify", "--org", id)).out, /Event 1 is missing/);
    await runInProcess(
      ["org", "delete", id, "--yes", "--at-once", "--audit-out", `${settings.env.SIGNET_DATA_DIR}/cut`],
      settings.env,
    );
  });

  test("exits with 1 and names the first changed event", async () => {
    await run(`update audit_event set actor = 'user:x' where org_id = '${org}' and seq = 2`);
    const { code, out } = await here("verify");
    assert.equal(code, 1);
    assert.match(out, /verification FAILED\.\n {2}Event 2 \([\da-f-]{36}\) doesn't match the chain/);
    assert.match(out, /The 1 events before it are intact\./);
    const { ok, organisations } = JSON.parse((await here("verify", "--json")).out);
    assert.deepEqual([ok, organisations[0].fault.kind, organisations[0].fault.seq], [false, "changed", 2]);
  });
});
