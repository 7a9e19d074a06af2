/** The form of each property: for configurations that no compiler has seen, as those of JavaScript programs. */
import { filterTypes } from "./filter.ts";

type Form = (value: unknown) => boolean;

export interface Property {
  readonly is: Form;
  /** Continues "must be". */
  readonly words: string;
}

const text: Property = {
  is: (value) => typeof value === "string" && value.trim() === value && value !== "",
  words: "a text that is not empty and has no space around it",
};
const flag: Property = { is: (value) => typeof value === "boolean", words: "true or false" };
const texts: Property = { is: listOf((value) => typeof value === "string"), words: "a list of texts" };
const keys: Property = {
  is: listOf((value) => typeof value === "string" || (typeof value === "object" && value !== null)),
  words: "a list of JWKs and PEM texts",
};
const oneOf = (...values: readonly string[]): Property => ({
  is: (value) => typeof value === "string" && values.includes(value),
  words: `one of ${values.join(", ")}`,
});
/** Longer than a day would be no re-validation at all. */
const seconds: Property = {
  is: (value) => Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= 86_400,
  words: "a whole number of seconds, 0 to 86400",
};

function listOf(is: Form): Form {
  return (value) => Array.isArray(value) && value.every(is);
}

/** Every property there is: the environment's names are derived from these. */
export const properties = {
  federationServer: text,
  applicationId: text,
  filterType: oneOf(...filterTypes),
  isOptional: flag,
  oauthOrganisationId: text,
  oauthClientId: text,
  oauthScopes: text,
  oauthAudience: text,
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
  baseUrl: text,
  cookieSecrets: texts,
  basePath: text,
  afterLogoutPath: text,
  revalidateAfterSeconds: seconds,
  introspectTokens: flag,
  allowUntypedAccessTokens: flag,
  systemAccountPublicKey: text,
  systemAccountSecretKey: text,
} satisfies Readonly<Record<string, Property>>;

const propertyOf: ReadonlyMap<string, Property> = new Map(Object.entries(properties));

/** What is wrong with the form of properties, each alone. A name that is not known would be a check that is not made. */
export function misfits(configuration: object): string[] {
  if (typeof configuration !== "object" || configuration === null) return ["It is not an object."];
  if (!("filterType" in configuration) || configuration.filterType === undefined)
    return [`filterType is missing (SIGNET_FILTER_TYPE): it is one of ${filterTypes.join(", ")}.`];
  return Object.entries(configuration).flatMap(([name, value]) => {
    const property = propertyOf.get(name);
    if (!property) return [`${name} is not a property.`];
    return value === undefined || property.is(value) ? [] : [`${name} must be ${property.words}.`];
  });
}
