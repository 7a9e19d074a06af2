/** Reads a configuration from environment variables: the property names in upper snake case, behind a prefix. */
import { SignetError } from "../errors.ts";
import { properties, variableOf } from "./properties.ts";
import type { ConfigurationProperties, SignetConfiguration } from "./settings.ts";

/** Unknown variables that start like a property are typing mistakes, which would switch a check off. */
const reservedNames =
  /^(?:OAUTH|SOVEREIGN|SYSTEM_ACCOUNT|FEDERATION|COOKIE|INTROSPECT|REVALIDATE|ACCEPT|SECURITY|REQUIRE|LEDGER)_/;
const flags: readonly string[] = [
  "isOptional",
  "sovereignAllowUnpinned",
  "introspectTokens",
  "allowUntypedAccessTokens",
  "oauthUserinfo",
  "acceptPlain",
];
const lists = ["cookieSecrets", "sovereignKeyThumbprints", "organisations", "ledgerWitnesses"];
const numbers = ["revalidateAfterSeconds", "ledgerQuorum"];

/**
 * Reads a configuration from environment variables: `SIGNET_FEDERATION_SERVER`, `SIGNET_APPLICATION_ID`, `SIGNET_FILTER_TYPE`,
 * `SIGNET_IS_OPTIONAL=true`, `SIGNET_OAUTH_SCOPES` and so on, for every property of `SignetConfiguration`.
 *
 * Lists are comma-separated, scopes space-separated, PEM blocks concatenated. Public keys may also be a JSON array of JWKs or a
 * JWK Set. An empty variable counts as unset.
 * @param env e.g. `process.env` or `Deno.env.toObject()`
 * @param prefix of the variables, for applications with several filters
 * @throws SignetError `configuration` for misspelt variables and unreadable values. `createFilter` checks how the values fit
 *   together.
 * @example
 * const filter = createFilter(configurationFromEnvironment(process.env));
 */
export function configurationFromEnvironment<
  Configuration extends ConfigurationProperties = SignetConfiguration,
>(env: Readonly<Record<string, string | undefined>>, prefix = "SIGNET_"): Configuration {
  const reasons: string[] = [];
  const names = new Map(Object.keys(properties).map((name) => [variableOf(name), name]));
  const entries = Object.entries(env).flatMap(([variable, value]) => {
    if (!variable.startsWith(prefix) || value === undefined || value === "") return [];
    const suffix = variable.slice(prefix.length);
    const name = names.get(suffix);
    if (name === undefined) {
      if (reservedNames.test(suffix)) reasons.push(unknownVariable(variable, prefix, [...names.keys()]));
      return [];
    }
    const parsed = parseValue(name, value.trim());
    if (parsed === undefined) reasons.push(`${variable} can't be read. Expected ${expectedFormat(name)}.`);
    return [[name, parsed] as const];
  });
  if (reasons.length > 0)
    throw new SignetError("configuration", `Invalid environment: ${reasons.join(" ")}`, { reasons });
  return Object.fromEntries(entries) as unknown as Configuration;
}

/** Suggests the variables that start with the same word. */
function unknownVariable(variable: string, prefix: string, names: readonly string[]): string {
  const [word = ""] = variable.slice(prefix.length).split("_");
  const similar = names.filter((name) => name.startsWith(word)).map((name) => prefix + name);
  return `${variable} is not a known property${similar.length > 0 ? `. Did you mean ${similar.join(", ")}?` : "."}`;
}

function expectedFormat(name: string): string {
  if (flags.includes(name)) return "true or false";
  if (name === "oauthClientKey") return "a JWK in JSON";
  if (name === "requireLedgerProof") return "true, false or async";
  return numbers.includes(name) ? "a whole number" : "PEM, or JWKs in JSON";
}

/** Undefined for an unreadable value. */
function parseValue(name: string, value: string): unknown {
  if (name === "requireLedgerProof" && value === "async") return value;
  if (flags.includes(name) || name === "requireLedgerProof")
    return value === "true" ? true : value === "false" ? false : undefined;
  if (numbers.includes(name)) return /^\d{1,9}$/.test(value) ? Number(value) : undefined;
  if (name === "organisations" && value === "any") return value;
  if (lists.includes(name)) return value.split(",").map((item) => item.trim());
  if (name === "oauthClientKey") return parseJwks(value)?.[0];
  if (name === "oauthClientCertificate" || name === "oauthClientCertificateKey")
    return parsePem(value)?.join("\n");
  if (name === "sovereignTrustedRootCertificates") return parsePem(value);
  if (name === "sovereignPublicKeys") return /^[[{]/.test(value) ? parseJwks(value) : parsePem(value);
  return value;
}

/** RFC 7468 §2. Some platforms store line breaks as the two characters `\n`. */
function parsePem(value: string): string[] | undefined {
  const block = /-----BEGIN ([A-Z0-9 ]+)-----[\sA-Za-z0-9+/=]*-----END \1-----/g;
  const text = value.replaceAll("\\n", "\n");
  return text.replace(block, "").trim() === "" ? [...text.matchAll(block)].map(([pem]) => pem) : undefined;
}

function parseJwks(value: string): unknown[] | undefined {
  try {
    const parsed: unknown = JSON.parse(value);
    if (Array.isArray(parsed)) return parsed;
    const { keys } = parsed as { keys?: unknown };
    return Array.isArray(keys) ? keys : [parsed];
  } catch {
    return undefined;
  }
}
