/** Asserts that acts are audited, for tests that don't inspect the events. */
import assert from "node:assert/strict";
import type { AuditAction } from "../../core/audit/actions.ts";
import type { Db } from "../../db/open.ts";
import { type Environment, runForJson } from "../command-line.ts";

/** Asserts that each action is in the audit log of some organisation. */
export async function assertAudited(db: Db, ...actions: readonly AuditAction[]): Promise<void> {
  const rows = await db.selectFrom("audit_event").select("action").distinct().execute();
  const written = new Set(rows.map(({ action }) => action));
  assert.deepEqual(
    actions.filter((action) => !written.has(action)),
    [],
  );
}

/** The same by the command line. */
export async function assertListed(env: Environment, org: string, ...actions: readonly AuditAction[]) {
  for (const action of actions) {
    const { items } = await runForJson<{ items: Array<{ actor: string }> }>(
      ["audit", "list", "--org", org, "--what", action, "--limit", "1"],
      env,
    );
    assert.deepEqual(
      items.map(({ actor }) => actor),
      ["operator"],
      action,
    );
  }
}
