/** What an export of the audit log may be narrowed to. */
import Type, { type Static } from "typebox";
import { matchActors } from "../../../core/audit/actor-names.ts";
import { canonicalAddress } from "../../../core/audit/ip-address.ts";
import { findSubjects } from "../../../core/audit/search/find-subjects.ts";
import { type AuditFilter, matchActions } from "../../../core/audit/search/search.ts";
import type { Db } from "../../../db/open.ts";
import { invalid } from "../../../http/api/api-error.ts";

const MAX_LETTERS = 200;
const text = (description: string) => Type.Optional(Type.String({ maxLength: MAX_LETTERS, description }));

export const filterParameters = {
  search: text("An email address, a name, an ID, an IP address, or the reference on an error page"),
  actor: text("An email address, an ID, `operator`, `system` or `anonymous`"),
  action: text("Such as `user.disabled`; or all that begin so: `user.`"),
  targetId: text("Of what it was done to"),
  address: text("IP address"),
  text: text("Anywhere in an event, without case"),
  from: text("RFC 3339"),
  to: text("RFC 3339, exclusive"),
};
const parameters = Type.Object(filterParameters);

/** @throws ApiError 422 */
export async function readFilter(
  db: Db,
  orgId: string,
  query: Static<typeof parameters>,
): Promise<AuditFilter> {
  const given = (name: keyof typeof filterParameters): string | undefined => query[name]?.trim() || undefined;
  const [search, actor, action] = [given("search"), given("actor"), given("action")];
  const [target, address, anywhere] = [given("targetId"), given("address"), given("text")];
  const [from, to] = [readTime("from", given("from")), readTime("to", given("to"))];
  return {
    ...(search === undefined ? {} : { subjects: (await findSubjects(db, orgId, search)).filters }),
    ...(actor === undefined ? {} : { actors: await matchActors(db, orgId, actor) }),
    ...(action === undefined ? {} : { actions: readActions(action) }),
    ...(target === undefined ? {} : { target }),
    ...(address === undefined ? {} : { address: canonicalAddress(address) ?? address }),
    ...(anywhere === undefined ? {} : { text: anywhere }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

function readActions(action: string): readonly string[] {
  const actions = matchActions(action);
  if (actions.length === 0) throw invalid([{ path: "?action", message: "is no event" }]);
  return actions;
}

function readTime(name: "from" | "to", value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const at = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/i.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(at)) throw invalid([{ path: `?${name}`, message: "is no time of RFC 3339" }]);
  return at;
}
