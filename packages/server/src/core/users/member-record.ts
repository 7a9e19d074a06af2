/** Attributes and groups of a member, for custom scopes. */
import { isNestedWithin, MAX_JSON_DEPTH } from "@signet/protocol/json-depth";
import type { Database } from "../../db/open.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { Clock } from "../clock.ts";
import type { Attributes } from "./user.ts";
import { findUser, lockUserAccount, type MemberRecord, setMemberRecord } from "./users.store.ts";

export class InvalidMemberRecord extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InvalidMemberRecord";
  }
}

const limits = { attributes: 100, groups: 200, text: 16_000 } as const;

/** Replaces the given parts. @returns false when there is no such member. @throws InvalidMemberRecord */
export async function changeMemberRecord(
  deps: { readonly database: Database; readonly clock: Clock },
  input: { orgId: string; id: string; record: MemberRecord; actor: string; address?: string },
): Promise<boolean> {
  const { orgId, id, record, actor, address } = input;
  requireValid(record.attributes ?? {}, "attribute");
  requireValid(record.membership?.attributes ?? {}, "membership attribute");
  const groups = record.membership?.groups ?? [];
  if (!areGroups(groups))
    throw new InvalidMemberRecord(
      `at most ${limits.groups} groups, each of 1 to 200 characters without control characters`,
    );
  return deps.database.transaction(async (tx) => {
    const member = await findUser(tx, orgId, id);
    if (!member) return false;
    // Waits for a concurrent form submission that compares versions.
    await lockUserAccount(tx, member, deps.clock());
    if (!(await setMemberRecord(tx, { orgId, id }, record))) return false;
    const event = { orgId, at: deps.clock(), actor, action: "user.attributes-changed" as const, target: id };
    await recordAuditEvent(tx, { ...event, address, details: { changed: Object.keys(record) } });
    return true;
  });
}

const isGroup = (name: string): boolean =>
  name.length >= 1 && name.length <= 200 && !/[\p{Cc}\p{Cf}]/u.test(name);

export const areGroups = (groups: readonly string[]): boolean =>
  groups.length <= limits.groups && groups.every(isGroup);

const haveNames = (attributes: Attributes): boolean =>
  Object.keys(attributes).every((name) => /^[A-Za-z0-9_-]{1,100}$/.test(name));

const areWithinLimits = (attributes: Attributes): boolean =>
  Object.keys(attributes).length <= limits.attributes &&
  isNestedWithin(attributes) &&
  JSON.stringify(attributes).length <= limits.text;

/** @param value as entered */
export const areAttributes = (value: unknown): value is Attributes =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  haveNames(value as Attributes) &&
  areWithinLimits(value as Attributes);

function requireValid(attributes: Attributes, what: string): void {
  if (!haveNames(attributes))
    throw new InvalidMemberRecord(`the name of an ${what} has 1 to 100 of A-Z a-z 0-9 _ -`);
  if (!areWithinLimits(attributes))
    throw new InvalidMemberRecord(
      `at most ${limits.attributes} of each kind, ${limits.text} characters in all, ${MAX_JSON_DEPTH} deep`,
    );
}
