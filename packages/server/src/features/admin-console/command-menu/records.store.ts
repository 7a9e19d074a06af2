/** Records for the command menu: a few of each kind. */
import { sql } from "kysely";
import { findMemberNames, type MemberName } from "../../../core/users/members/member-names.store.ts";
import { listMembers } from "../../../core/users/members/members.store.ts";
import type { Db } from "../../../db/open.ts";
import { isNamed, nameIn } from "../../../db/search-text.ts";

export interface FoundRecord {
  readonly id: string;
  readonly name: string;
  /** Tells records of one name apart. */
  readonly note?: string;
}

const tables = {
  applications: "application",
  systemAccounts: "system_account",
  devices: "device",
  pools: "signing_pool",
  scopes: "custom_scope",
  groups: "user_group",
  roles: "role",
  resources: "protected_resource",
  trusts: "trust",
  tokenExchange: "token_exchange_policy",
  clientAuthorities: "client_certificate_authority",
  authorizationDetailTypes: "authorization_detail_type",
  initialAccessTokens: "initial_access_token",
} as const;

type StoredKind = keyof typeof tables;

const nameColumns: Readonly<Partial<Record<StoredKind, readonly string[]>>> = {
  groups: ["display_name"],
  resources: ["name", "identifier"],
  trusts: ["subject_pattern", "issuer"],
  authorizationDetailTypes: ["display_name", "type"],
  initialAccessTokens: ["label"],
};

const namesOf = (kind: StoredKind): readonly string[] => nameColumns[kind] ?? ["name"];

export type RecordKind = "users" | StoredKind;

/** In the order of the menu. */
export const recordKinds = ["users", ...Object.keys(tables)] as readonly RecordKind[];

/** Newest first. @param words in lower case; each must occur in a name or the id */
export async function findRecords(
  db: Db,
  orgId: string,
  kind: RecordKind,
  { words, limit }: { readonly words: readonly string[]; readonly limit: number },
): Promise<FoundRecord[]> {
  if (kind === "users") return (await listMembers(db, orgId, { filter: { words }, limit })).map(toUser);
  const table = tables[kind];
  let query = db
    .selectFrom(table)
    .select(["id", nameIn(table, namesOf(kind)).as("name")])
    .where("org_id", "=", orgId);
  // What another organisation shares has no page of its own.
  if (kind === "applications")
    query = query.where(sql<boolean>`home_org_id is null and source <> 'metadata-document'`);
  for (const word of words) query = query.where(isNamed(table, word, namesOf(kind)));
  return query.orderBy("id", "desc").limit(limit).execute();
}

/** @param id a UUID in lower case */
export async function findRecordById(
  db: Db,
  orgId: string,
  kind: RecordKind,
  id: string,
): Promise<FoundRecord | undefined> {
  if (kind !== "users")
    return db
      .selectFrom(tables[kind])
      .select(["id", nameIn(tables[kind], namesOf(kind)).as("name")])
      .where("org_id", "=", orgId)
      .where("id", "=", id)
      .$if(kind === "applications", (query) =>
        query.where(sql<boolean>`home_org_id is null and source <> 'metadata-document'`),
      )
      .executeTakeFirst();
  const user = (await findMemberNames(db, orgId, [id])).get(id);
  return user && toUser(user);
}

function toUser({ id, email, firstname, surname }: MemberName): FoundRecord {
  const name = `${firstname} ${surname}`.trim();
  return name === "" ? { id, name: email } : { id, name, note: email };
}
