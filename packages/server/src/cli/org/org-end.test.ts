import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { readClientSettings } from "../../config/client-settings.ts";
import { readConfig } from "../../config/config.ts";
import { STREAM_LEASE } from "../../core/audit/stream/stream.store.ts";
import { takeLease } from "../../core/housekeeping/housekeeping.store.ts";
import { setDeletionBegun } from "../../core/organisations/deletion/deletion.store.ts";
import { openDatabase } from "../../db/open.ts";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { run } from "../run.ts";

interface Shown {
  readonly id: string;
  readonly disabledAt: string | null;
  readonly deleteAfter: string | null;
}

const DAY = 86_400_000;

describe("signet org suspend, resume and delete", () => {
  forEachDatabase(({ fresh }) => {
    let settings: OperatorSettings;
    let folder: string;
    const json = <Answer = Shown>(...args: string[]) => runForJson<Answer>(["org", ...args], settings.env);
    const typed = (args: string[], answer = "") => runInProcess(["org", ...args], settings.env, answer);
    const listed = async (id: string) =>
      (await json<{ items: Shown[] }>("list")).items.find((one) => one.id === id);

    before(async () => {
      settings = await operatorSettings(await fresh());
      folder = await mkdtemp(path.join(os.tmpdir(), "signet-org-end-"));
    });
    after(async () => {
      await settings.remove();
      await rm(folder, { recursive: true, force: true });
    });

    test("suspends and resumes", async () => {
      const { id } = await json("create", "--name", "Acme");
      assert.notEqual((await json("suspend", id)).disabledAt, null);
      assert.equal((await json("resume", id)).disabledAt, null);
      assert.match((await typed(["suspend", id])).out, /^Suspended "Acme"\.$/m);
      assert.match((await typed(["resume", id])).out, /^Resumed "Acme"\.$/m);
    });

    test("says how to bring back an organisation whose log could not be written", async () => {
      const { id } = await json("create", "--name", "Unwritten");
      const database = openDatabase(settings.env["DATABASE_URL"] ?? "");
      await database.query.updateTable("audit_event").set({ at: 9e15 }).where("org_id", "=", id).execute();
      await database.close();
      const out = path.join(folder, "unwritten.jsonl");
      const { code, err } = await typed(["delete", id, "--yes", "--at-once", "--audit-out", out]);
      assert.equal(code, 1);
      assert.match(
        err,
        new RegExp(`"Unwritten" is suspended, and is deleted after .*org delete ${id} --undo`),
      );
      await assert.rejects(stat(out), { code: "ENOENT" });
      assert.equal((await json("delete", id, "--undo")).deleteAfter, null);
    });

    test("asks before it deletes, shows when, and undoes it", async () => {
      const { id } = await json("create", "--name", "Beta");
      const unasked = await typed(["delete", id]);
      assert.deepEqual([unasked.code, /no terminal to confirm on: add --yes/.test(unasked.err)], [2, true]);
      assert.equal((await typed(["delete", id], "no")).code, 1);
      assert.equal((await listed(id))?.deleteAfter, null);

      const scheduled = await json("delete", id, "--yes");
      const inDays = (Date.parse(scheduled.deleteAfter ?? "") - Date.now()) / DAY;
      assert.ok(inDays > 29.9 && inDays <= 30, String(inDays));
      assert.deepEqual(await listed(id), scheduled);
      assert.match((await typed(["list"])).out, new RegExp(`^${id}  Beta +to be deleted after 2`, "m"));
      assert.match((await typed(["delete", id, "--yes"])).err, /"Beta" is already to be deleted/);
      for (const resume of [
        ["resume", id],
        ["disable", id, "--enable"],
      ])
        assert.match(
          (await typed(resume)).err,
          /is to be deleted: signet org delete .* --undo brings it back/,
        );

      const { deleteAfter, disabledAt } = await json("delete", id, "--undo");
      assert.deepEqual([deleteAfter, disabledAt], [null, null]);
      assert.match((await typed(["delete", id, "--undo"])).err, /is not to be deleted, or/);
      assert.equal((await typed(["delete", id], "yes")).code, 0);
      assert.notEqual((await listed(id))?.deleteAfter, null);
    });

    test("deletes at once, when the audit log has a file of its own", async () => {
      const { id } = await json("create", "--name", "Gamma");
      await json("suspend", id);
      const file = path.join(folder, "gamma.jsonl");
      for (const args of [["--at-once"], ["--audit-out", file], ["--undo", "--yes"]])
        assert.equal((await typed(["delete", id, ...args])).code, 2, args.join(" "));

      await writeFile(file, "mine");
      const taken = await typed(["delete", id, "--yes", "--at-once", "--audit-out", file]);
      assert.match(taken.err, /EEXIST/);
      assert.equal(await readFile(file, "utf8"), "mine");
      assert.equal((await listed(id))?.deleteAfter, null, "nothing was begun");
      await rm(file);

      const done = await json<object>("delete", id, "--yes", "--at-once", "--audit-out", file);
      assert.deepEqual(done, { id, deleted: true, auditLog: file });
      assert.equal(await listed(id), undefined);
      const actions = (await readFile(file, "utf8"))
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { action: string }).action);
      assert.ok(actions.includes("organisation.created"));
      assert.equal(actions.at(-1), "organisation.deletion-scheduled");
      assert.equal((await stat(file)).mode & 0o777, 0o600);
      assert.match((await typed(["delete", id, "--undo"])).err, /there is no organisation/);
    });

    test("deletes at once what the audit stream has not sent, and says so", async () => {
      const { id } = await json("create", "--name", "Zeta");
      await json("suspend", id);
      const database = openDatabase(settings.env["DATABASE_URL"] ?? "");
      const now = Date.now();
      await takeLease(database.query, { name: STREAM_LEASE, holder: "a node", now, until: now + 1_000 });
      const file = path.join(folder, "zeta.jsonl");
      const done = await typed(["delete", id, "--yes", "--at-once", "--audit-out", file]);
      assert.equal(done.code, 0, done.err);
      assert.match(done.out, /The audit stream had not sent all of it: the rest is in that file alone\./);
      await database.query.deleteFrom("background_lease").where("name", "=", STREAM_LEASE).execute();
      await database.close();
    });

    test("finishes a deletion that was interrupted, whose log was kept when it began", async () => {
      const { id } = await json("create", "--name", "Epsilon");
      await json("delete", id, "--yes");
      const database = openDatabase(settings.env["DATABASE_URL"] ?? "");
      await setDeletionBegun(database.query, { orgId: id, now: Date.now(), isEarly: true });
      await database.close();
      assert.match((await typed(["delete", id, "--undo"])).err, /its deletion has already begun/);
      const file = path.join(folder, "epsilon.jsonl");
      const lines: string[] = [];
      const refuse = () => Promise.reject(new Error("nothing is asked"));
      const print = (line: string) => void lines.push(line);
      // Past runInProcess, which misses an event: the audit log has it from the command before, and is gone.
      const args = ["org", "delete", id, "--yes", "--at-once", "--audit-out", file, "--json"];
      const io = { print, printError: print, readSecret: refuse, confirm: refuse };
      assert.equal(
        await run(args, {
          io,
          readConfig: () => readConfig(settings.env),
          readClientSettings: () => readClientSettings(settings.env),
        }),
        0,
        lines.join(),
      );
      assert.deepEqual(JSON.parse(lines.join("")), { id, deleted: true, auditLog: null });
      assert.equal(await listed(id), undefined);
      await assert.rejects(stat(file), /ENOENT/);
    });
  });
});
