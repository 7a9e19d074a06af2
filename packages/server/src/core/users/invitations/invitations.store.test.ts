import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { migrate } from "../../../db/migrate.ts";
import { openDatabase } from "../../../db/open.ts";
import { isChangeOf } from "../../audit/actions.ts";
import { invitationActions, invitationSteps } from "./invitations.store.ts";

test("reads an invitation's status from the user's changes, without scanning failed sign-ins", async () => {
  const database = openDatabase("sqlite::memory:");
  try {
    await migrate(database);
    const query = invitationSteps(database.query, { orgId: "org", userId: "user" });
    const plan = JSON.stringify(await query.explain(undefined, sql`query plan`));
    assert.match(plan, /audit_event_change/);
    for (const action of invitationActions) assert.ok(isChangeOf(action, "user"), action);
  } finally {
    await database.close();
  }
});
