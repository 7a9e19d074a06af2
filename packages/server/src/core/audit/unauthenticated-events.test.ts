import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { migrate } from "../../db/migrate.ts";
import { type Database, openDatabase } from "../../db/open.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { createOrganisation } from "../organisations/organisations.ts";
import { listAuditEvents } from "./audit.store.ts";
import { recordOnce, recordUnauthenticatedEvent } from "./unauthenticated-events.ts";

const HOUR = 3_600_000;

forEachDatabase(({ fresh }) => {
  let database: Database;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    database = openDatabase(await fresh());
    await migrate(database);
  });
  after(() => database.close());

  const newOrganisation = async () =>
    (await createOrganisation({ clock }, database.query, { name: "Acme", actor: "operator" })).id;
  const failures = async (orgId: string, count: number, target?: string) => {
    const event = { orgId, actor: "anonymous", action: "sign-in.failed" } as const;
    for (let at = 0; at < count; at++)
      await recordUnauthenticatedEvent(
        { database, clock },
        target === undefined ? event : { ...event, target },
      );
  };
  const told = async (orgId: string) => {
    const events = await listAuditEvents(database.query, orgId, 2_000);
    const of = (wanted: string) => events.filter(({ action }) => action === wanted).length;
    return { failed: of("sign-in.failed"), withheld: of("audit.events-withheld"), events };
  };

  test("records up to sixty failures of an account per hour, then once that more were withheld", async () => {
    const orgId = await newOrganisation();
    await failures(orgId, 60, "ada");
    assert.deepEqual({ ...(await told(orgId)), events: [] }, { failed: 60, withheld: 0, events: [] });
    await failures(orgId, 40, "ada");
    const { failed, withheld, events } = await told(orgId);
    assert.deepEqual([failed, withheld], [60, 1]);
    assert.deepEqual(
      [events[0]?.target, events[0]?.actor, events[0]?.details],
      ["ada", "system", { action: "sign-in.failed", until: new Date(clock() + HOUR).toISOString() }],
    );
    await failures(orgId, 1, "bob");
    assert.equal((await told(orgId)).failed, 61, "another account's are kept");
    clock.advance(HOUR);
    await failures(orgId, 1, "ada");
    assert.equal((await told(orgId)).failed, 62, "and the next hour's");
  });

  test("limits failures of unknown accounts per organisation", async () => {
    const [orgId, other] = [await newOrganisation(), await newOrganisation()];
    await Promise.all(Array.from({ length: 61 }, () => failures(orgId, 10)));
    const { failed, withheld } = await told(orgId);
    assert.deepEqual([failed, withheld], [600, 1]);
    await failures(other, 1);
    assert.equal((await told(other)).failed, 1);
    await failures(orgId, 1, "ada");
    assert.equal((await told(orgId)).failed, 601, "those of an account are not lost among them");
  });

  test("builds a throttled event only when it is recorded", async () => {
    const orgId = await newOrganisation();
    let made = 0;
    const refuse = (subject: string) =>
      recordOnce({ database, clock }, { orgId, subject }, () => {
        made++;
        return { actor: "anonymous", action: "application.refused", target: "shop" };
      });
    await Promise.all(Array.from({ length: 20 }, () => refuse("shop")));
    assert.equal(made, 1);
    await refuse("another");
    clock.advance(60_000);
    await refuse("shop");
    assert.equal(made, 3);
    const { events } = await told(orgId);
    assert.equal(events.filter(({ action }) => action === "application.refused").length, 3);
  });
});
