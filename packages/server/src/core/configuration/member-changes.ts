/** The members in which two records differ. */
import { isDeepStrictEqual } from "node:util";
import type { MemberChange } from "./step.ts";

export function changesOf(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): MemberChange[] {
  const members = new Set([...Object.keys(after), ...Object.keys(before)]);
  return [...members].flatMap((member) => {
    const [old, now] = [before[member], after[member]];
    if (isDeepStrictEqual(old, now)) return [];
    return [
      {
        member,
        ...(old === undefined ? {} : { before: old }),
        ...(now === undefined ? {} : { after: now }),
      },
    ];
  });
}

/** For a new record: the members that differ from the defaults. */
export const newMembers = (
  defaults: Readonly<Record<string, unknown>>,
  record: Readonly<Record<string, unknown>>,
) => changesOf(defaults, record).map(({ member, after }): MemberChange => ({ member, after }));
