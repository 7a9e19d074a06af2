// Which rows are due: the first ones of each queue, found by index, whatever else waits behind them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { forEachDatabase } from "../../testing/databases.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { logoutDeliveries } from "../backchannel-logout/backchannel-logout.store.ts";
import { outgoingMails } from "../mail/mail.store.ts";
import { type DueRow, type DueRowsQuery, dueRows, dueRowsOfNodes, findDueRows } from "./due-rows.store.ts";

const NOW = 1_000;
const limits = { organisation: 3, queue: 2 };

forEachDatabase(({ fresh, name }) => {
  let running: TestService;
  let orgs: TestOrganisation[];
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    const made = [await makeOrganisation(running.service), await makeOrganisation(running.service, "Other")];
    orgs = made.toSorted((a, b) => (a.organisation.id < b.organisation.id ? -1 : 1));
  });
  after(() => running.close());

  const db = () => running.service.database.query;
  /** Of the first organisation two applications, of the second one. */
  const queues = () => {
    const [first, second] = orgs as [TestOrganisation, TestOrganisation];
    return { a: first.web.application, b: first.batch.application, c: second.web.application };
  };

  /** `a1@5` waits in queue a until 5; its state may say that it is done. */
  async function waiting(...rows: string[]): Promise<void> {
    await db().deleteFrom("logout_delivery").execute();
    for (const row of rows) {
      const [, id = "", queue = "", at, state] = /^((.)\d+)@(\d+) ?(\w*)$/.exec(row) ?? [];
      const { orgId, id: application_id } = queues()[queue as "a" | "b" | "c"];
      const ends = {
        delivered_at: state === "delivered" ? 1 : null,
        failed_at: state === "failed" ? 1 : null,
      };
      await db()
        .insertInto("logout_delivery")
        .values({
          ...{ org_id: orgId, id, application_id, user_id: "u", session_id: "s", attempts: 0 },
          ...{ next_attempt_at: Number(at), created_at: 0, last_error: null, ...ends },
        })
        .execute();
    }
  }
  const due = async (query: Partial<DueRowsQuery> = {}) => {
    const whole = { now: NOW, limits, ...query };
    const found = await findDueRows(db(), logoutDeliveries, whole);
    // Equal places and times have no order.
    const inOrder = (rows: readonly DueRow[]) =>
      rows.toSorted(
        (a, b) => a.place - b.place || a.nextAttemptAt - b.nextAttemptAt || (a.id < b.id ? -1 : 1),
      );
    const ofNodes = (await dueRowsOfNodes(db(), logoutDeliveries, whole).execute(db())).rows;
    assert.deepEqual(inOrder(ofNodes), inOrder(found), "as where the organisations are on several nodes");
    return found.map(({ id, place }) => `${id}:${place}`).join(" ");
  };

  test("first rows of all organisations come before second ones, the longest waiting first", async () => {
    await waiting("a1@30", "a2@20", "c1@25", "c2@10");
    assert.equal(await due(), "c2:1 a2:1 c1:2 a1:2");
  });

  test("of a queue, and of an organisation, no more than may be under way", async () => {
    await waiting("a1@1", "a2@2", "a3@3", "b1@4", "b2@5", "c1@6", "c2@6", "c3@6");
    assert.equal(await due(), "a1:1 c1:1 a2:2 c2:2 b1:3");
    assert.equal(await due({ limits: { organisation: 12, queue: 1 } }), "a1:1 c1:1 b1:2");
  });

  test("what is done, or due later, is left out and holds up nothing", async () => {
    await waiting("a1@1 delivered", "a2@1 failed", `a3@${NOW + 1}`, `a4@${NOW}`, "b1@2", "c1@1 delivered");
    assert.equal(await due(), "b1:1 a4:2");
    await waiting();
    assert.equal(await due(), "");
  });

  test("organisations that are full are left out", async () => {
    await waiting("a1@1", "b1@2", "c1@3");
    assert.equal(await due({ full: [queues().a.orgId] }), "c1:1");
    assert.equal(await due({ full: orgs.map(({ organisation }) => organisation.id) }), "");
  });

  test("a row says which queue of which organisation it is in", async () => {
    await waiting("b1@1");
    const [row] = await findDueRows(db(), logoutDeliveries, { now: NOW, limits });
    const { orgId, id } = queues().b;
    const { queue, ...rest } = row ?? {};
    assert.equal(queue, `${orgId}/${id}`);
    assert.deepEqual(rest, { orgId, id: "b1", attempts: 0, place: 1, nextAttemptAt: 1 });
  });

  test("no step reads a whole table or sorts what waits", async () => {
    for (const table of [outgoingMails, logoutDeliveries]) {
      const statement = dueRows(db(), table, { now: NOW, limits });
      const plan = await running.service.database.transaction(async (tx) => {
        // An empty table is read as a whole, unless that is forbidden.
        if (name === "postgres") await sql`set local enable_seqscan = off`.execute(tx);
        const explain =
          name === "postgres" ? sql`explain ${statement}` : sql`explain query plan ${statement}`;
        const { rows } = await explain.execute(tx);
        return rows.map((row) => Object.values(row as object).join(" ")).join("\n");
      });
      const index = `${table.name}_turns`;
      const byQueue =
        name === "postgres"
          ? `${index} on .*\n +Index Cond: \\(\\(org_id = queues`
          : `${index} \\(org_id=\\?`;
      assert.match(plan, new RegExp(byQueue));
      assert.doesNotMatch(
        plan,
        new RegExp(`SCAN (due|${table.name}\\b(?! USING COVERING INDEX ${index}))|Seq Scan`),
      );
    }
  });
});
