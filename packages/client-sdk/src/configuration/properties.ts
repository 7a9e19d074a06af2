/** The type of each property, checked at run time for applications written in JavaScript. */
import { filterTypes } from "../filter.ts";
import { signingAlgorithms } from "../tokens/algorithms.ts";

type Predicate = (value: unknown) => boolean;

interface Property {
  readonly accepts: Predicate;
  /** Completes "must be …". */
  readonly expected: string;
}

const listOf =
  (accepts: Predicate): Predicate =>
  (value) =>
    Array.isArray(value) && value.every(accepts);
const text: Property = {
  accepts: (value) => typeof value === "string" && value.trim() === value && value !== "",
  expected: "a non-empty string without leading or trailing spaces",
};
const flag: Property = { accepts: (value) => typeof value === "boolean", expected: "true or false" };
const texts: Property = {
  accepts: listOf((value) => typeof value === "string"),
  expected: "a list of strings",
};
const keys: Property = {
  accepts: listOf((value) => typeof value === "string" || (typeof value === "object" && value !== null)),
  expected: "a list of JWKs and PEM strings",
};
const privateKey: Property = {
  accepts: (value) => typeof value === "object" && value !== null && "d" in value && "kty" in value,
  expected: "a private key as a JWK",
};
const oneOf = (...values: readonly string[]): Property => ({
  accepts: (value) => typeof value === "string" && values.includes(value),
  expected: `one of ${values.join(", ")}`,
});
const acceptedOrganisations: Property = {
  accepts: (value) => value === "any" || typeof value === "function" || texts.accepts(value),
  expected: "`any`, a list of PublicIds, or a function",
};
/** At most a day: anything longer would amount to no revalidation. */
const seconds: Property = {
  accepts: (value) => Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= 86_400,
  expected: "a whole number of seconds, 0 to 86400",
};

const proofMode: Property = {
  accepts: (value) => typeof value === "boolean" || value === "async",
  expected: "true, false or `async`",
};
const count: Property = {
  accepts: (value) => Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= 100,
  expected: "a whole number, 1 to 100",
};

/** All properties. The names of environment variables are derived from these. */
export const properties = {
  federationServer: text,
  applicationId: text,
  filterType: oneOf(...filterTypes),
  isOptional: flag,
  oauthOrganisationId: text,
  organisationId: text,
  organisations: acceptedOrganisations,
  oauthClientId: text,
  clientId: text,
  oauthScopes: text,
  scope: text,
  oauthIdTokenAlg: oneOf(...signingAlgorithms),
  oauthUserinfo: flag,
  oauthAudience: text,
  audience: text,
  sovereignSigningPoolId: text,
  sovereignTrustedRootCertificates: texts,
  sovereignKeyThumbprints: texts,
  sovereignPublicKeys: keys,
  sovereignRequiredKeyId: text,
  sovereignAllowUnpinned: flag,
  sovereignIssuerMode: oneOf("pool", "organisation"),
  issuer: text,
  environment: oneOf("production", "staging", "development"),
  oauthClientSecret: text,
  clientSecret: text,
  securityProfile: oneOf("none", "fapi2", "fapi2-message-signing"),
  oauthClientKey: privateKey,
  oauthClientCertificate: text,
  oauthClientCertificateKey: text,
  baseUrl: text,
  cookieSecrets: texts,
  basePath: text,
  afterLogoutPath: text,
  revalidateAfterSeconds: seconds,
  introspectTokens: flag,
  allowUntypedAccessTokens: flag,
  systemAccountPublicKey: text,
  systemAccountSecretKey: text,
  acceptPlain: flag,
  requireLedgerProof: proofMode,
  ledgerUrl: text,
  ledgerKey: text,
  ledgerWitnesses: texts,
  ledgerQuorum: count,
} satisfies Readonly<Record<string, Property>>;

const propertiesByName: ReadonlyMap<string, Property> = new Map(Object.entries(properties));

/** Checks each property by itself. An unknown name is a problem: a misspelt check would silently not be made. */
export function propertyProblems(configuration: object): string[] {
  if (typeof configuration !== "object" || configuration === null) return ["It is not an object."];
  if (!("filterType" in configuration) || configuration.filterType === undefined)
    return [`filterType is missing (SIGNET_FILTER_TYPE). Use one of ${filterTypes.join(", ")}.`];
  return Object.entries(configuration).flatMap(([name, value]) => {
    const property = propertiesByName.get(name);
    if (!property) return [`${name} is not a known property.`];
    return value === undefined || property.accepts(value) ? [] : [`${name} must be ${property.expected}.`];
  });
}

export const isUuid = (text: string): boolean => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text);

/** `oauthClientId` → `OAUTH_CLIENT_ID`: the environment variable without its prefix. */
export const variableOf = (property: string): string =>
  property.replace(/[A-Z]/g, (capital) => `_${capital}`).toUpperCase();

/** A property with its environment variable, for errors. */
export const named = (property: string): string => `${property} (SIGNET_${variableOf(property)})`;

/** The setting that names the provider, for errors of calls to it. */
export const providerSetting = ({ federationServer }: { readonly federationServer?: string }): string =>
  named(federationServer === undefined ? "issuer" : "federationServer");

/** Properties whose names are words of sentences too. */
const wordsOfSentences: ReadonlySet<string> = new Set(["scope", "audience"]);

/** A reason with the environment variables of the properties it names. */
export function withVariables(reason: string): string {
  if (reason.includes("SIGNET_")) return reason;
  const isProperty = (word: string) => propertiesByName.has(word) && !wordsOfSentences.has(word);
  const names = new Set((reason.match(/\b[a-z][A-Za-z]+\b/g) ?? []).filter(isProperty));
  const variables = [...names].map((name) => `SIGNET_${variableOf(name)}`);
  return variables.length === 0 ? reason : `${reason} [${variables.join(", ")}]`;
}
