/** A directory as big as the design names: groups nested in each other, with users in several of them, and roles given to groups. */
import { randomUUID } from "node:crypto";
import { newUuid } from "../../../packages/protocol/src/uuid.ts";
import { groupNameKey } from "../../../packages/server/src/core/groups/group.ts";
import { searchKey } from "../../../packages/server/src/core/users/members/members.store.ts";
import type { Db } from "../../../packages/server/src/db/open.ts";
import { insertDocuments, type WholeRow } from "../../../packages/server/src/testing/fixtures/whole-rows.ts";
import { countRows } from "../../../packages/server/src/testing/probes/count-rows.ts";

export interface DirectorySize {
  readonly users: number;
  readonly groups: number;
}

export interface Directory extends DirectorySize {
  readonly orgId: string;
  /** Its roles are given to groups. */
  readonly applicationId: string;
  /** Put into `GROUPS_OF_ONE` of the groups, as deep as they go. */
  readonly userId: string;
}

/** PostgreSQL ends a transaction within 15 seconds. */
const BATCH = 5_000;
/** Of each user, and of the one that is measured. */
const GROUPS_OF_EACH = 5;
const GROUPS_OF_ONE = 20;
/** A tenth of the groups are in each other's: five deep at ten thousand. */
const IN_ONE = 10;
const ROLES = 100;
/** Of ten groups one has a role. */
const EVERY = 10;

/** @returns when every row is there, and the database knows how many they are */
export async function makeDirectory(db: Db, directory: Directory): Promise<void> {
  const at = Date.now() - 86_400_000;
  const groupIds = Array.from({ length: directory.groups }, () => newUuid());
  await makeGroups(db, directory, { groupIds, at });
  await makeUsers(db, directory, { groupIds, at });
  await countRows(db);
}

interface Made {
  readonly groupIds: readonly string[];
  readonly at: number;
}

async function makeGroups(
  db: Db,
  { orgId, applicationId }: Directory,
  { groupIds, at }: Made,
): Promise<void> {
  const roles = Array.from({ length: ROLES }, (_, index) => role({ orgId, applicationId, at, index }));
  const nested = groupIds.slice(IN_ONE).map((id, index) => ({
    ...{
      org_id: orgId,
      group_id: groupIds[Math.floor(index / IN_ONE) + 1] ?? "",
      member_id: id,
      added_at: at,
    },
  }));
  const assignments = groupIds
    .filter((_, index) => index % EVERY === 0)
    .map((id, index) => ({
      ...{ org_id: orgId, id: newUuid(), role_id: roles[index % ROLES]?.id ?? "", group_id: id },
      ...{ created_by: "bench", created_at: at },
    }));
  const write = (groups: readonly WholeRow[]) => insertDocuments(db, [["user_group", groups]]);
  await inBatches(groupIds.length, (index) => group(orgId, groupIds[index] ?? "", at, index), write);
  await insertDocuments(db, [
    ["group_nested", nested],
    ["role", roles],
    ["role_assignment", assignments],
  ]);
}

async function makeUsers(db: Db, { orgId, userId, users }: Directory, { groupIds, at }: Made): Promise<void> {
  const inGroup = (user: string, index: number) => ({
    ...{ org_id: orgId, group_id: groupIds[index % groupIds.length] ?? "", user_id: user, added_at: at },
  });
  const groupsOfOne = Array.from({ length: GROUPS_OF_ONE }, (_, nth) =>
    inGroup(userId, groupIds.length - 1 - nth * 7),
  );
  await insertDocuments(db, [["group_user", groupsOfOne]]);
  await inBatches(
    users,
    (index) => user(orgId, at, index),
    async (some, first) => {
      const members = some.flatMap(({ id }, index) =>
        Array.from({ length: GROUPS_OF_EACH }, (_, nth) => inGroup(id, (first + index) * 7 + nth * 1_009)),
      );
      await insertDocuments(db, [
        ["user_account", some],
        ["membership", some.map((one) => membership(orgId, one))],
        ["group_user", members],
      ]);
    },
  );
}

async function inBatches<Item>(
  count: number,
  itemAt: (index: number) => Item,
  write: (items: readonly Item[], first: number) => Promise<void>,
): Promise<void> {
  for (let first = 0; first < count; first += BATCH) {
    const items = Array.from({ length: Math.min(BATCH, count - first) }, (_, index) => itemAt(first + index));
    await write(items, first);
  }
}

const changes = (at: number) => ({ created_at: at, updated_at: at, version: 1 });

const group = (orgId: string, id: string, at: number, index: number) => {
  const displayName = `Group ${String(index).padStart(5, "0")}`;
  return {
    ...{ org_id: orgId, id, display_name: displayName, name_key: groupNameKey(displayName), source: "local" },
    ...changes(at + index),
  };
};

const role = ({ orgId, applicationId, at, index }: RoleSeed) => ({
  ...{
    org_id: orgId,
    id: newUuid(),
    application_id: applicationId,
    key: `role-${index}`,
    name: `Role ${index}`,
  },
  ...{ permissions: JSON.stringify([`orders:act-${index}`]), built_in: 0, ...changes(at) },
});

interface RoleSeed {
  readonly orgId: string;
  readonly applicationId: string;
  readonly at: number;
  readonly index: number;
}

const user = (orgId: string, at: number, index: number) => ({
  ...{ org_id: orgId, id: randomUUID(), firstname: `First${index % 997}`, surname: `Last${index}` },
  ...{ email: `person.${index}@directory.example`, email_key: `person.${index}@directory.example` },
  ...{ username: null, email_verified_at: at, created_at: at + index, updated_at: at + index },
});

const membership = (orgId: string, { id, created_at, ...person }: ReturnType<typeof user>) => ({
  ...{ org_id: orgId, user_id: id, home_org_id: orgId, role: "Standard", created_at },
  search_key: searchKey(person),
});
