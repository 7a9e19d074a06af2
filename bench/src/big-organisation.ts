/** Rows for an organisation that is as big as the console must serve: written by the database, in batches. */
import { randomUUID } from "node:crypto";
import { newUuid } from "../../packages/protocol/src/uuid.ts";
import { searchKey } from "../../packages/server/src/core/users/members/members.store.ts";
import type { Db } from "../../packages/server/src/db/open.ts";
import { insertDocuments, type WholeRow } from "../../packages/server/src/testing/fixtures/whole-rows.ts";
import { countRows } from "../../packages/server/src/testing/probes/count-rows.ts";

export interface Size {
  readonly applications: number;
  readonly users: number;
  readonly events: number;
}

/** PostgreSQL ends a transaction within 15 seconds. */
const BATCH = 5_000;
const actions = [
  "session.started",
  "session.ended",
  "user.changed",
  "consent.granted",
  "application.changed",
];
const names = ["Ada", "Grace", "Alan", "Edsger", "Barbara", "Ken", "Frances", "Tony"];

const word = (index: number): string => `${names[index % names.length]}${(index * 7919) % 9973}`;

/** @returns when every row is there, and the database knows how many they are */
export async function makeBig(db: Db, orgId: string, applicationId: string, size: Size): Promise<void> {
  const start = Date.now() - 400 * 86_400_000;
  const { settings } = await db
    .selectFrom("application")
    .select("settings")
    .where("org_id", "=", orgId)
    .where("id", "=", applicationId)
    .executeTakeFirstOrThrow();
  await inBatches(db, size.applications, (first) => ({
    application: range(first, size.applications).map((index) => application(orgId, settings, start, index)),
  }));
  const ids: string[] = [];
  await inBatches(db, size.users, (first) => {
    const users = range(first, size.users).map((index) => user(orgId, start, index));
    ids.push(...users.map(({ id }) => id));
    return {
      user_account: users,
      membership: users.map((one) => membership(orgId, one)),
      consent: users.map((one) => consent(orgId, applicationId, one)),
    };
  });
  await inBatches(db, size.events, (first) => ({
    audit_event: range(first, size.events).map((index) =>
      event(orgId, ids[index % ids.length] ?? "", start, index),
    ),
  }));
  await countRows(db);
}

async function inBatches(
  db: Db,
  count: number,
  rowsFrom: (first: number) => Record<string, readonly WholeRow[]>,
): Promise<void> {
  for (let first = 0; first < count; first += BATCH) {
    await insertDocuments(db, Object.entries(rowsFrom(first)));
  }
}

const range = (first: number, end: number): number[] =>
  Array.from({ length: Math.min(BATCH, end - first) }, (_, index) => first + index);

const application = (orgId: string, settings: string, start: number, index: number) => ({
  org_id: orgId,
  id: newUuid(),
  name: `Application ${word(index)}`,
  client_type: index % 3 === 0 ? "spa" : "confidential",
  settings,
  created_at: start + index,
  updated_at: start + index,
  disabled_at: index % 50 === 0 ? start : null,
  version: 1,
});

const user = (orgId: string, start: number, index: number) => ({
  org_id: orgId,
  id: randomUUID(),
  email: `${word(index).toLowerCase()}.${index}@big.example`,
  email_key: `${word(index).toLowerCase()}.${index}@big.example`,
  email_verified_at: index % 5 === 0 ? null : start,
  username: null,
  firstname: names[index % names.length] ?? "",
  surname: `Person${index}`,
  phone: null,
  locale: null,
  password_hash: null,
  password_changed_at: null,
  created_at: start + index * 1_000,
  updated_at: start + index * 1_000,
  disabled_at: index % 97 === 0 ? start : null,
  attributes: null,
});

const membership = (orgId: string, { id, created_at, ...person }: ReturnType<typeof user>) => ({
  org_id: orgId,
  user_id: id,
  home_org_id: orgId,
  role: "Standard",
  created_at,
  attributes: null,
  groups: null,
  search_key: searchKey(person),
});

const consent = (orgId: string, applicationId: string, { id, created_at }: ReturnType<typeof user>) => ({
  org_id: orgId,
  id: newUuid(),
  kind: "user",
  application_id: applicationId,
  user_id: id,
  scope: "openid profile",
  granted_by: `user:${id}`,
  granted_at: created_at,
  revoked_at: null,
  scope_fingerprints: null,
});

const event = (orgId: string, userId: string, start: number, index: number) => ({
  org_id: orgId,
  id: newUuid(),
  at: start + index * 100,
  actor: `user:${userId}`,
  action: actions[index % actions.length] ?? "",
  target: userId,
  address: `192.0.2.${index % 250}`,
  details: "{}",
  seq: null,
  hash: null,
  is_change: index % 5 >= 2 ? 1 : 0,
});
