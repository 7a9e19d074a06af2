/** Addresses of routes, with the identifiers of records in place of their parameters. */

/**
 * @param path as the router has it, e.g. `/oauth/manage/:org/users/:id/sessions/:session/end`
 * @param ids by the parameter's name, and for `:id` by the part of the path before it: `users`
 * @returns undefined for a parameter that nothing is known for
 */
export function recordAddress(
  path: string,
  orgId: string,
  ids: Readonly<Record<string, string>>,
): string | undefined {
  const parts = path.split("/").map((part, index, all) => {
    if (part === ":org") return orgId;
    if (!part.startsWith(":")) return part;
    const name = part.slice(1);
    const id = name === "id" ? ids[all[index - 1] === ":org" ? "manage" : (all[index - 1] ?? "")] : ids[name];
    return id === undefined ? undefined : encodeURIComponent(id);
  });
  return parts.includes(undefined) ? undefined : parts.join("/");
}
