/** What an organisation keeps about its users for its custom scopes: attributes, and groups of the membership. */
import type { Database } from "../../db/open.ts";
import { recordAuditEvent } from "../audit/store.ts";
import type { Clock } from "../clock.ts";
import { type MemberRecord, setMemberRecord } from "./store.ts";
import type { Attributes } from "./user.ts";

export class InvalidMemberRecord extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InvalidMemberRecord";
  }
}

const limits = { attributes: 100, groups: 200, text: 16_000 } as const;

/**
 * Replaces what is given.
 * @returns false when the organisation has no such member. @throws InvalidMemberRecord
 */
export async function changeMemberRecord(
  deps: { readonly database: Database; readonly clock: Clock },
  input: { orgId: string; id: string; record: MemberRecord; actor: string },
): Promise<boolean> {
  const { orgId, id, record, actor } = input;
  requireValid(record.attributes ?? {}, "attribute");
  requireValid(record.membership?.attributes ?? {}, "membership attribute");
  const groups = record.membership?.groups ?? [];
  const isGroup = (name: string) => name.length >= 1 && name.length <= 200 && !/[\p{Cc}\p{Cf}]/u.test(name);
  if (groups.length > limits.groups || !groups.every(isGroup))
    throw new InvalidMemberRecord(`at most ${limits.groups} groups, each of 1 to 200 plain characters`);
  return deps.database.transaction(async (tx) => {
    if (!(await setMemberRecord(tx, { orgId, id }, record))) return false;
    const event = { orgId, at: deps.clock(), actor, action: "user.attributes-changed", target: id };
    await recordAuditEvent(tx, { ...event, details: { changed: Object.keys(record) } });
    return true;
  });
}

function requireValid(attributes: Attributes, what: string): void {
  const names = Object.keys(attributes);
  if (!names.every((name) => /^[A-Za-z0-9_-]{1,100}$/.test(name)))
    throw new InvalidMemberRecord(`the name of an ${what} has 1 to 100 of A-Z a-z 0-9 _ -`);
  if (names.length > limits.attributes || JSON.stringify(attributes).length > limits.text)
    throw new InvalidMemberRecord(
      `at most ${limits.attributes} of each kind, ${limits.text} characters in all`,
    );
}
