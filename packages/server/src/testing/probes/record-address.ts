/** Fills in the parameters of route paths with IDs of records. */

/**
 * @param path as the router has it, e.g. `/oauth/manage/:org/users/:id/sessions/:session/end`; and with a parameter in its
 * query, e.g. `/oauth/:org/account/security/passkey?id=:passkey`
 * @param ids by the parameter's name, and for `:id` by the part of the path before it: `users`. With the part after it,
 * `users/enable`, it is the one for this act alone
 * @returns undefined for a parameter that nothing is known for
 */
export function recordAddress(
  path: string,
  orgId: string,
  ids: Readonly<Record<string, string>>,
): string | undefined {
  const parts = path.split("/").map((part, index, all) => {
    if (part === ":org") return orgId;
    const [, before = "", parameter] = /^(.*=)?:(\w+)$/.exec(part) ?? [];
    if (parameter === undefined) return part;
    const previous = all[index - 1] === ":org" ? "manage" : (all[index - 1] ?? "");
    const name = parameter === "id" ? previous : parameter;
    const id = ids[`${name}/${all[index + 1] ?? ""}`] ?? ids[name];
    return id === undefined ? undefined : before + encodeURIComponent(id);
  });
  return parts.includes(undefined) ? undefined : parts.join("/");
}
