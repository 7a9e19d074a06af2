import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { migrate } from "../../../db/migrate.ts";
import { openDatabase } from "../../../db/open.ts";
import { isChangeOf } from "../../audit/actions.ts";
import { invitationActions, invitationSteps } from "./invitations.store.ts";

test("how an invitation stands is looked for among the changes of its user, not among all who failed to sign in as them", async () => {
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
