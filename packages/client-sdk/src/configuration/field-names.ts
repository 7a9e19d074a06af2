/** The field's names of properties beside the specification's (RFC 6749): both work. */
import { named, variableOf } from "./properties.ts";
import type { ConfigurationProperties } from "./settings.ts";

/** The field's name and the specification's. */
const fieldNames = {
  organisationId: "oauthOrganisationId",
  clientId: "oauthClientId",
  clientSecret: "oauthClientSecret",
  scope: "oauthScopes",
  audience: "oauthAudience",
} as const;

type FieldName = keyof typeof fieldNames;
const pairs = Object.entries(fieldNames) as [FieldName, (typeof fieldNames)[FieldName]][];

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** The same configuration in the specification's names. Each reason names two properties that contradict each other. */
export function inSpecificationNames<Configuration extends ConfigurationProperties>(
  configuration: Configuration,
  reasons: string[],
): Configuration {
  const written = pairs.filter(([field]) => configuration[field] !== undefined);
  if (written.length === 0) return configuration;
  const { clientId, federationServer, applicationId } = configuration;
  const renamed: Record<string, unknown> = Object.fromEntries(Object.entries(configuration));
  for (const [field, name] of written) {
    const [value, other] = [configuration[field], configuration[name]];
    if (other !== undefined && value !== other) reasons.push(contradiction(field, name));
    renamed[name] = value;
    delete renamed[field];
  }
  if (clientId !== undefined && applicationId !== undefined && !isSame(clientId, applicationId)) {
    reasons.push(contradiction("clientId", "applicationId"));
    // Said once.
    delete renamed["oauthClientId"];
  }
  // The client id is the application's PublicId (specification, "Application / OAuth client").
  if (clientId !== undefined && federationServer !== undefined) renamed["applicationId"] ??= clientId;
  return renamed as Configuration;
}

const contradiction = (field: string, name: string): string =>
  `${named(field)} and ${named(name)} have different values: set one of them.`;

/** A reason in the names that the application has written. */
export function inWrittenNames(reason: string, configuration: ConfigurationProperties): string {
  let text = reason;
  for (const [field, name] of pairs) {
    if (configuration[field] === undefined || configuration[name] !== undefined) continue;
    text = text.replaceAll(new RegExp(`\\b${name}\\b`, "g"), field);
    text = text.replaceAll(`SIGNET_${variableOf(name)}`, `SIGNET_${variableOf(field)}`);
  }
  return text;
}
