// Every list of the console that has acts or a file, as everyone who must not reach another organisation's rows: a new list is tried
// without being named here.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import { setApplicationStatus } from "../core/applications/applications.ts";
import { listAuditEvents } from "../core/audit/audit.store.ts";
import { forEachDatabase } from "../testing/databases.ts";
import type { TestPage } from "../testing/fakes/browser.ts";
import { MAIL_ENV } from "../testing/fakes/mailbox.ts";
import { type SeededRecords, seedRecords } from "../testing/fixtures/planted-records.ts";
import { listRoutes } from "../testing/list-routes.ts";
import { type ConsoleBrowser, consoleBrowser, formOfPage } from "../testing/probes/console-browser.ts";
import { dumpWholeDatabase } from "../testing/probes/dump-database.ts";
import { recordAddress } from "../testing/probes/record-address.ts";
import { makeClient, startTestService, type TestService } from "../testing/test-service.ts";

const routes = (await listRoutes()).filter(({ path }) => /^\/(oauth|devices)\/manage\/:org\b/.test(path));
/** The audit log has an export of its own, with its own tests. */
const parents = (method: string, act: string): string[] =>
  routes
    .filter(
      (route) => route.method === method && route.path.endsWith(act) && !route.path.includes("audit-log"),
    )
    .map(({ path }) => path.slice(0, -act.length));
const files = parents("GET", "/export");
const acting = parents("POST", "/bulk");

/** The database refuses the audit event of every change of one record. */
const faultAt = (running: TestService, id: string) =>
  triggerAt(
    running,
    id,
    running.service.database.kind === "sqlite" ? "select raise(abort, 'fault');" : "raise exception 'fault';",
  );

/** The database does something at the audit event of every change of one record. */
function triggerAt({ service: { database } }: TestService, id: string, does: string) {
  const isSqlite = database.kind === "sqlite";
  const when = `when (new.target = '${id}')`;
  const make = isSqlite
    ? [`create trigger fault before insert on audit_event ${when} begin ${does} end`]
    : [
        `create function fault() returns trigger language plpgsql as $$begin ${does} return new; end$$`,
        `create trigger fault before insert on audit_event for each row ${when} execute function fault()`,
      ];
  const remove = isSqlite
    ? ["drop trigger fault"]
    : ["drop trigger fault on audit_event", "drop function fault"];
  const run = async (statements: readonly string[]) => {
    for (const one of statements) await sql.raw(one).execute(database.query);
  };
  return { make: () => run(make), remove: () => run(remove) };
}

describe("lists of the console", () => {
  forEachDatabase(({ fresh }) => {
    let running: TestService;
    let a: SeededRecords;
    let b: SeededRecords;
    let here: ConsoleBrowser;
    before(async () => {
      running = await startTestService({ databaseUrl: await fresh(), env: MAIL_ENV });
      a = await seedRecords(running.service, "Acme");
      b = await seedRecords(running.service, "Beta");
      here = await consoleBrowser(running, a);
    });
    after(async () => {
      await running.close();
      assert.deepEqual(running.errors, []);
    });

    const at = (path: string, { organisation, ids }: SeededRecords = a): string => {
      const [route = "", query] = path.split("?");
      const address = recordAddress(route, organisation.id, ids);
      return `${running.baseUrl}${address}${query === undefined ? "" : `?${query}`}`;
    };
    const get = (path: string, org?: SeededRecords) => here.browser.get(at(path, org));
    const namesNothingOf = (org: SeededRecords, { body }: TestPage, about: string) => {
      for (const secret of org.secrets) assert.ok(!body.includes(secret), `${about}: ${secret}`);
    };
    const records = async () =>
      (await dumpWholeDatabase(running.service.database.query))
        .split("\n")
        .filter(
          (line) =>
            !/^(consumed_value|session|browser_session|activity|audit_|server_state|lease)/.test(line),
        )
        .join("\n");
    /** Ids of rows that can be ticked. */
    const idsOn = ({ body }: TestPage): string[] =>
      [...body.matchAll(/name="selected" value="([^"]+)"/g)].map(([, id]) => id ?? "");
    const actsOn = ({ body }: TestPage): string[] =>
      [...body.matchAll(/name="act" value="([^"]+)"/g)].map(([, act]) => act ?? "");
    const ask = async (path: string, act: string, ids: readonly string[], org = a) => {
      const form = formOfPage(await get(path), { act });
      for (const id of ids) form.append("selected", id);
      return here.browser.post(at(`${path}/bulk`, org), form);
    };

    test("are more than these", () => {
      assert.ok(files.length >= 9, files.join());
      assert.ok(acting.length >= 9, acting.join());
      assert.deepEqual(
        // What could be given to a record is chosen from, and no list of what it has.
        acting.filter((path) => !files.includes(path) && !path.endsWith("/add")),
        [],
      );
    });

    test("a file has the organisation's own rows, as CSV, and that it was made is recorded", async () => {
      for (const path of files) {
        const file = await get(`${path}/export`);
        assert.equal(file.status, 200, path);
        assert.equal(file.headers.get("content-type"), "text/csv; charset=utf-8");
        assert.match(
          file.headers.get("content-disposition") ?? "",
          /^attachment; filename="[a-z-]+-\d{4}-\d\d-\d\d\.csv"$/,
        );
        const lines = file.body.trimEnd().split("\r\n");
        assert.match(lines[0] ?? "", /^id,/, path);
        assert.ok(lines.length > 1, `${path} has a row`);
        namesNothingOf(b, file, path);
        const [event] = await listAuditEvents(running.service.database.query, a.organisation.id, 1);
        assert.equal(event?.action, "list.exported", path);
        assert.equal(event?.actor, `user:${a.administrator.id}`);
      }
    });

    test("no file of another organisation, and none without a session", async () => {
      for (const path of files) {
        const refused = await get(`${path}/export`, b);
        assert.doesNotMatch(refused.headers.get("content-type") ?? "", /csv/, path);
        namesNothingOf(b, refused, path);
        const stranger = await fetch(at(`${path}/export`), { redirect: "manual" });
        assert.doesNotMatch(stranger.headers.get("content-type") ?? "", /csv/, path);
      }
    });

    test("a file that names somebody asks for a recent sign-in", async () => {
      const { query } = running.service.database;
      const people = [a.administrator.email, a.user.email];
      const byAdministrator = { created_by: `user:${a.administrator.id}` };
      await query.updateTable("device_enrollment_code").set(byAdministrator).execute();
      await query.updateTable("preauthorization").set(byAdministrator).execute();
      const naming: string[] = [];
      for (const path of files) {
        const { body } = await get(`${path}/export`);
        if (people.some((one) => body.includes(one))) naming.push(path);
      }
      assert.ok(naming.length >= 4, naming.join());
      const session = query.updateTable("browser_session").where("user_id", "=", a.administrator.id);
      const before = Date.now();
      await session.set((eb) => ({ auth_time: eb("auth_time", "-", 660_000) })).execute();
      for (const path of naming) {
        const { headers } = await get(`${path}/export`);
        assert.doesNotMatch(headers.get("content-type") ?? "", /csv/, path);
      }
      await session.set({ auth_time: before }).execute();
    });

    test("a file has every row of a longer list once, in the list's order, and no cell that is a formula", async () => {
      for (let index = 0; index < 3; index++)
        await makeClient(running.service, a.organisation, { redirectUris: [`https://a${index}.example/cb`] });
      const db = running.service.database.query;
      const { application } = await makeClient(running.service, a.organisation, {
        redirectUris: ["https://f.example/cb"],
      });
      await db
        .updateTable("application")
        .set({ name: '=HYPERLINK("x")' })
        .where("id", "=", application.id)
        .execute();
      const insert = (index: number) =>
        db
          .insertInto("application")
          .columns([
            "org_id",
            "id",
            "name",
            "client_type",
            "settings",
            "created_at",
            "updated_at",
            "disabled_at",
            "version",
          ])
          .expression(
            db
              .selectFrom("application")
              .select((eb) => [
                "org_id",
                eb.val(`00000000-0000-7000-8000-${String(index).padStart(12, "0")}`).as("id"),
                eb.val("Row").as("name"),
                ...([
                  "client_type",
                  "settings",
                  "created_at",
                  "updated_at",
                  "disabled_at",
                  "version",
                ] as const),
              ])
              .where("id", "=", application.id),
          )
          .execute();
      for (let index = 0; index < 1_100; index++) await insert(index);
      const file = await here.get("/applications/export?sort=name");
      const ids = file.body
        .trimEnd()
        .split("\r\n")
        .slice(1)
        .map((line) => line.split(",")[0] ?? "");
      assert.ok(ids.length > 1_100);
      assert.equal(new Set(ids).size, ids.length, "each once");
      const rows = ids.filter((id) => id.startsWith("00000000-"));
      assert.deepEqual(rows, rows.toSorted(), "equal names by id");
      assert.match(file.body, /,"'=HYPERLINK\(""x""\)",/);
      const asked = await ask("/oauth/manage/:org/applications", "disable", rows.slice(0, 130));
      assert.equal(idsOn(asked).length, 100, "no more at once than the longest page has");
      const narrowed = await here.get("/applications/export?search=HYPERLINK");
      assert.equal(narrowed.body.trimEnd().split("\r\n").length, 2);
      await db.deleteFrom("application").where("id", "like", "00000000-%").execute();
    });

    test("a cursor of another list, order or organisation shows nothing of anybody else", async () => {
      const text = Buffer.from("SeededRecords").toString("base64url");
      const cursors = [
        `0.${b.ids["users"]}`,
        `9999999999999.${b.ids["pool"]}`,
        `${text}.${b.ids["applications"]}`,
        "x",
        "..",
        `${"A".repeat(700)}.${b.user.id}`,
      ];
      for (const path of new Set([...files, ...acting]))
        for (const cursor of cursors)
          for (const query of [
            `after=${cursor}`,
            `before=${cursor}`,
            `sort=name&after=${cursor}`,
            `sort=-nothing&before=${cursor}&from=99999999999&size=7`,
          ]) {
            const page = await get(`${path}?${query}`);
            assert.equal(page.status, 200, `${path}?${query}`);
            // The form of the acts gives the query back.
            const body = page.body.replaceAll(cursor, "");
            namesNothingOf(b, { ...page, body }, `${path}?${query}`);
          }
    });

    test("acts do nothing to another organisation's records, and say nothing about them", async () => {
      const theirs = [...new Set(Object.values(b.ids)), b.user.id, b.administrator.id, "nonsense", ""];
      for (const path of acting) {
        const acts = actsOn(await get(path));
        assert.ok(acts.length > 0, `${path} has a row with acts`);
        const before = await records();
        for (const act of acts) {
          const asked = await ask(path, act, theirs);
          namesNothingOf(b, asked, `${path} ${act}`);
          assert.ok(!asked.body.includes('id="bulk-confirm"'), `${path} ${act} asks about nothing`);
          const forged = formOfPage(await get(path), { act, confirmed: "yes", once: "x", name: "Acme" });
          for (const id of theirs) forged.append("selected", id);
          await here.browser.post(at(`${path}/bulk`), forged);
          const elsewhere = await ask(path, act, theirs, b);
          assert.ok(!elsewhere.body.includes('id="bulk-confirm"'), `${path} ${act} elsewhere`);
        }
        assert.equal(await records(), before, path);
      }
    });

    test("acts want the page's token and our own origin, and do nothing for another site", async () => {
      for (const path of acting) {
        const page = await get(path);
        const [id = "", act = ""] = [idsOn(page)[0], actsOn(page)[0]];
        const before = await records();
        const fields = { act, selected: id, confirmed: "yes", name: "Acme" };
        const withoutToken = await here.browser.post(at(`${path}/bulk`), fields);
        assert.equal(withoutToken.status, 403, path);
        const form = formOfPage(page, fields);
        const foreign = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
        assert.equal((await here.browser.post(at(`${path}/bulk`), form, foreign)).status, 403, path);
        assert.equal(await records(), before, path);
      }
    });

    test("an id that is sent often counts once, and a thousand of them are refused", async () => {
      for (const path of acting) {
        const page = await get(path);
        const [id = "", act = ""] = [idsOn(page)[0], actsOn(page).at(0)];
        assert.equal(idsOn(await ask(path, act, Array(150).fill(id))).length || 1, 1, path);
        const twice = [id.toUpperCase(), id];
        assert.equal(idsOn(await ask(path, act, twice)).length || 1, 1, `${path}: in two spellings`);
        const before = await records();
        const many = await ask(path, act, Array(1_000).fill(id));
        assert.ok(many.status >= 400 && many.status < 500, `${path}: ${many.status}`);
        assert.equal(await records(), before, path);
      }
    });

    test("a confirmed act happens once, however often its form is sent, with one event for each record", async () => {
      const { application } = await makeClient(running.service, a.organisation, {
        redirectUris: ["https://once.example/cb"],
      });
      const acted = { orgId: a.organisation.id, id: application.id, actor: "test" };
      await setApplicationStatus(running.service, { ...acted, disabled: true });
      const form = formOfPage(await ask("/oauth/manage/:org/applications", "enable", [application.id]));
      const answers = await Promise.all([0, 1, 2].map(() => here.post("/applications/bulk", form)));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409]);
      const events = (await listAuditEvents(running.service.database.query, a.organisation.id, 50)).filter(
        ({ action, target }) => action === "application.enabled" && target === application.id,
      );
      assert.equal(events.length, 1);
    });

    test("a fault amid the rows is told, with what is done before it: the form can't be sent again", async () => {
      const made = [0, 1, 2].map((index) =>
        makeClient(running.service, a.organisation, { redirectUris: [`https://fault${index}.example/cb`] }),
      );
      const ids = (await Promise.all(made)).map(({ application }) => application.id);
      const db = running.service.database.query;
      const [first = "", broken = "", last = ""] = ids;
      const form = formOfPage(await ask("/oauth/manage/:org/applications", "disable", ids));
      // Its audit event is refused.
      const refuse = faultAt(running, broken);
      await refuse.make();
      const answer = await here.post("/applications/bulk", form);
      await refuse.remove();
      assert.equal(answer.status, 200);
      assert.match(answer.body, /1 done, 2 not\.[\s\S]*Not done: something went wrong/);
      const rows = await db
        .selectFrom("application")
        .select(["id", "disabled_at"])
        .where("id", "in", ids)
        .execute();
      const isDisabled = new Map(rows.map(({ id, disabled_at }) => [id, disabled_at !== null]));
      assert.deepEqual(
        [first, broken, last].map((id) => isDisabled.get(id)),
        [true, false, false],
      );
      assert.equal(running.errors.splice(0).length, 1, "it is logged");
    });

    test("who loses the role amid the rows does none of the others, and is told", async () => {
      const made = [0, 1, 2].map((index) =>
        makeClient(running.service, a.organisation, { redirectUris: [`https://role${index}.example/cb`] }),
      );
      const ids = (await Promise.all(made)).map(({ application }) => application.id);
      const db = running.service.database.query;
      const [first = ""] = ids;
      const form = formOfPage(await ask("/oauth/manage/:org/applications", "disable", ids));
      const own = `user_id = '${a.administrator.id}'`;
      const taken = triggerAt(running, first, `update membership set role = 'User' where ${own};`);
      await taken.make();
      const answer = await here.post("/applications/bulk", form);
      await taken.remove();
      assert.match(answer.body, /1 done, 2 not\.[\s\S]*no longer an administrator/);
      const rows = await db.selectFrom("application").select("disabled_at").where("id", "in", ids).execute();
      assert.equal(rows.filter(({ disabled_at }) => disabled_at !== null).length, 1);
      const again = await here.post("/applications/bulk", form);
      assert.equal(again.status, 403);
      await db
        .updateTable("membership")
        .set({ role: "Administrator" })
        .where("user_id", "=", a.administrator.id)
        .execute();
    });

    test("what changed since the question is left alone", async () => {
      const { application } = await makeClient(running.service, a.organisation, {
        redirectUris: ["https://stale.example/cb"],
      });
      const asked = formOfPage(await ask("/oauth/manage/:org/applications", "disable", [application.id]));
      const acted = { orgId: a.organisation.id, id: application.id, actor: "test" };
      await setApplicationStatus(running.service, { ...acted, disabled: true });
      const done = await here.post("/applications/bulk", asked);
      assert.match(done.body, /0 done, 1 not\.[\s\S]*Nothing to change/);
    });
  });
});
