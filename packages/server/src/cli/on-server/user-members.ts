/** `signet user set-profile` and `set-attributes` with `--server`: a user's profile, attributes and groups by API v1. */
import { type RecordCall, repeatedText, UsageError } from "../command.ts";
import type { Wire } from "../remote/api-types.ts";
import { type Identified, printRecord, userPathOf } from "../remote/named-records.ts";
import { readNameValues } from "../user/name-values.ts";
import { type Given, givenMembers } from "../user/user-profile.ts";
import type { OnServer } from "./on-server.ts";

const addressParts: readonly string[] = ["streetAddress", "postalCode", "locality", "region", "country"];

/** A text that is empty removes the member. */
export const setProfile: OnServer = async (call) => {
  const given = Object.entries(givenMembers(call.values) satisfies Given).map(
    ([member, text]) => [member, text.trim() || null] as const,
  );
  if (given.length === 0) throw new UsageError("give at least one member to change");
  const isOfAddress = ([member]: readonly [string, unknown]) => addressParts.includes(member);
  const address = given.filter(isOfAddress);
  const patch = {
    ...Object.fromEntries(
      given
        .filter((one) => !isOfAddress(one))
        .map(([member, text]) => [member === "profileUrl" ? "profile" : member, text]),
    ),
    ...(address.length > 0 ? { address: Object.fromEntries(address) } : {}),
  };
  const user = await call.api.send("PATCH", await userPathOf(call), patch);
  return printRecord(call, user, `${String(user["email"])} has a new profile.`);
};

/** Attributes first: they are refused for what the groups can't be. */
export const setAttributes: OnServer = async (call) => {
  const { values, api } = call;
  const wanted = readNameValues(values, "attribute");
  const ofMembership = readNameValues(values, "membership-attribute");
  const path = await userPathOf(call);
  const before = await api.read<Wire & Record<"attributes" | "membershipAttributes", Wire>>(path);
  // A guest's are the home organisation's: named, they are refused by the server.
  const isHome = before["guest"] !== true || values.attribute !== undefined;
  const patch = {
    ...(isHome ? { attributes: replacing(before.attributes, wanted) } : {}),
    membershipAttributes: replacing(before.membershipAttributes, ofMembership),
  };
  const user = await api.send("PATCH", path, patch);
  await joinGroups(call, path, repeatedText(values, "group"));
  return printRecord(call, user, `${String(user["email"])} has these attributes and groups.`);
};

const isObject = (value: unknown): value is Wire =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The merge patch (RFC 7396) that leaves nothing of what was there before. */
const replacing = (before: Wire, after: Wire): Wire => ({
  ...Object.fromEntries(
    Object.keys(before)
      .filter((name) => !Object.hasOwn(after, name))
      .map((name) => [name, null]),
  ),
  ...Object.fromEntries(
    Object.entries(after).map(([name, value]) => {
      const was = before[name];
      return [name, isObject(value) && isObject(was) ? replacing(was, value) : value];
    }),
  ),
});

/** The user is in the local groups of these names alone; those that are not there are made. */
async function joinGroups({ api }: RecordCall, userPath: string, names: readonly string[]): Promise<void> {
  const { items } = await api.list<Identified>(`${userPath}/groups`, { query: { filter: LOCAL } });
  const key = (name: unknown): string => String(name).toLowerCase();
  const wanted = new Map(names.map((name) => [key(name), name]));
  const present = new Set(items.map((group) => key(group["displayName"])));
  const memberOf = (id: string): string => `/groups/${id}/members${userPath}`;
  for (const [lower, name] of wanted) {
    if (present.has(lower)) continue;
    const filter = `displayName eq ${JSON.stringify(name)} and ${LOCAL}`;
    const [found] = (await api.list<Identified>("/groups", { limit: 1, query: { filter } })).items;
    const { id } = found ?? (await api.send<Identified>("POST", "/groups", { displayName: name }));
    await api.send("PUT", memberOf(id));
  }
  for (const group of items)
    if (!wanted.has(key(group["displayName"]))) await api.send("DELETE", memberOf(group.id));
}

const LOCAL = 'source eq "local"';
