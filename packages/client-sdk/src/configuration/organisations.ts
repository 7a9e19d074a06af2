/** `organisations`: an application of several organisations, and which of them it accepts. */
import { isUuid } from "./properties.ts";
import type { AcceptedOrganisations, FilterProperties } from "./settings.ts";

/** A longer list belongs into a table that a callback asks. */
const MAX_LISTED = 10_000;

export function checkOrganisations(
  configuration: FilterProperties,
  reasons: string[],
): { readonly organisations?: AcceptedOrganisations } {
  const { filterType, organisations } = configuration;
  if (organisations === undefined || filterType === "None") return {};
  if (!filterType.startsWith("OAuth")) {
    reasons.push(`organisations is only for the OAuth filters: ${filterType} receives no tokens.`);
    return {};
  }
  checkOthers(configuration, reasons);
  if (!Array.isArray(organisations)) return { organisations };
  const listed: readonly string[] = organisations;
  if (listed.length === 0) reasons.push("organisations is empty: nobody could sign in.");
  if (listed.length > MAX_LISTED)
    reasons.push(`organisations has more than ${MAX_LISTED} ids: use a function.`);
  if (!listed.every(isUuid))
    reasons.push("organisations must be `any`, a list of PublicIds (UUIDs), or a function.");
  return { organisations: listed.map((id) => id.toLowerCase()) };
}

/** What names one organisation contradicts it. */
function checkOthers(configuration: FilterProperties, reasons: string[]): void {
  for (const name of ["issuer", "oauthOrganisationId"] as const)
    if (configuration[name] !== undefined)
      reasons.push(`organisations and ${name} exclude each other: ${name} names one organisation.`);
  // A pool's keys are those of one organisation.
  const pinned = Object.keys(configuration).find(
    (name) => name.startsWith("sovereign") && configuration[name as keyof FilterProperties] !== undefined,
  );
  if (pinned !== undefined)
    reasons.push(`organisations and ${pinned} exclude each other: a signing pool is of one organisation.`);
}
