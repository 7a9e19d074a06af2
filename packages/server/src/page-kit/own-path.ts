/** The address of a page of the console, as the visit that is there has it. */
import { isUuid } from "@signet/protocol/hash";
import type { Organisation } from "../core/organisations/organisation.ts";
import { consolePath, type Visit } from "./visit.ts";

/** A page with an address for the router. */
export interface Addressed {
  /** Below the organisation's console: `/applications/:id/delete`. */
  readonly path: string;
  /** The address of a path, for pages that have another place than the console's addresses. */
  uriOf?(organisation: Organisation, rest: string): string;
}

export const uriFor = (
  { organisation }: Pick<Visit, "organisation">,
  page: Addressed,
  rest: string,
): string => page.uriOf?.(organisation, rest) ?? consolePath(organisation, rest);

/** Ids of paths in their one form; what is none finds nothing. */
export function paramsOf({ request }: Pick<Visit, "request">): Readonly<Record<string, string>> {
  const { org: _, ...params } = request.params as Record<string, string>;
  const read = ([name, value]: [string, string]) => [name, isUuid(value) ? value.toLowerCase() : value];
  return Object.fromEntries(Object.entries(params).map(read));
}

export function ownPath(visit: Visit, page: Addressed): string {
  const params = paramsOf(visit);
  const rest = page.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  return uriFor(visit, page, rest);
}
