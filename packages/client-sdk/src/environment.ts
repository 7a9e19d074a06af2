/** A configuration from environment variables: the same names in capitals, behind a prefix. */
import type { SignetConfiguration } from "./configuration.ts";
import { properties } from "./configuration-properties.ts";
import { SignetError } from "./errors.ts";

/** Names that no property has, but that begin like one, are mistakes: of a check that is then not made. */
const ownNames = /^(?:OAUTH|SOVEREIGN|SYSTEM_ACCOUNT|FEDERATION|COOKIE|INTROSPECT|REVALIDATE)_/;

/**
 * Reads a configuration from environment variables: `SIGNET_FEDERATION_SERVER`, `SIGNET_APPLICATION_ID`, `SIGNET_FILTER_TYPE`,
 * `SIGNET_IS_OPTIONAL=true`, `SIGNET_OAUTH_SCOPES` and so on, for every property of `SignetConfiguration`.
 *
 * Lists are separated by commas, scopes by spaces; PEM texts of a list stand one after the other. A list of public keys may also be a JSON array
 * of JWKs, or a JWK Set. A variable that is empty counts as not set.
 *
 * @param env e.g. `process.env` or `Deno.env.toObject()`
 * @param prefix of the names, for applications with several filters
 * @throws SignetError `configuration`: variables that begin like a property but are none, and values that cannot be read. What
 *   the values mean together is checked where the filter is made.
 * @example
 * ```ts
 * const filter = createFilter(configurationFromEnvironment(process.env));
 * ```
 */
export function configurationFromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  prefix = "SIGNET_",
): SignetConfiguration {
  const reasons: string[] = [];
  const names = new Map(Object.keys(properties).map((name) => [variableOf(name), name]));
  const read = Object.entries(env).flatMap(([variable, value]) => {
    if (!variable.startsWith(prefix) || value === undefined || value === "") return [];
    const own = variable.slice(prefix.length);
    const name = names.get(own);
    if (name === undefined) {
      if (ownNames.test(own)) reasons.push(notAProperty(variable, prefix, [...names.keys()]));
      return [];
    }
    const parsed = parse(name, value);
    if (parsed === undefined) reasons.push(`${variable} cannot be read: ${formOf(name)}.`);
    return [[name, parsed] as const];
  });
  if (reasons.length > 0)
    throw new SignetError("configuration", `The environment cannot be read: ${reasons.join(" ")}`, {
      reasons,
    });
  return Object.fromEntries(read) as unknown as SignetConfiguration;
}

/** With the names that begin with the same word: nearly always one of them is meant. */
function notAProperty(variable: string, prefix: string, names: readonly string[]): string {
  const [word = ""] = variable.slice(prefix.length).split("_");
  const near = names.filter((name) => name.startsWith(word)).map((name) => prefix + name);
  return `${variable} is not a property${near.length > 0 ? `; there is ${near.join(", ")}` : ""}.`;
}

/** `oauthClientId` → `OAUTH_CLIENT_ID`. */
function variableOf(name: string): string {
  return name.replace(/[A-Z]/g, (capital) => `_${capital}`).toUpperCase();
}

const flags = new Set([
  "isOptional",
  "sovereignAllowUnpinned",
  "introspectTokens",
  "allowUntypedAccessTokens",
]);
const lists = new Set(["cookieSecrets", "sovereignKeyThumbprints"]);

function formOf(name: string): string {
  if (flags.has(name)) return "it is true or false";
  if (name === "revalidateAfterSeconds") return "it is a whole number of seconds";
  return "it is PEM, or JSON of JWKs";
}

/** Undefined when the value cannot be read. */
function parse(name: string, value: string): unknown {
  const trimmed = value.trim();
  if (flags.has(name)) return flagOf(trimmed);
  if (name === "revalidateAfterSeconds") return /^\d{1,9}$/.test(trimmed) ? Number(trimmed) : undefined;
  if (lists.has(name)) return trimmed.split(",").map((item) => item.trim());
  if (name === "sovereignTrustedRootCertificates") return pemTexts(trimmed);
  if (name === "sovereignPublicKeys") return /^[[{]/.test(trimmed) ? jwks(trimmed) : pemTexts(trimmed);
  return trimmed;
}

function flagOf(value: string): boolean | undefined {
  if (value === "true") return true;
  return value === "false" ? false : undefined;
}

/** RFC 7468 §2. Some places keep line ends as the two characters `\n`. */
function pemTexts(value: string): string[] | undefined {
  const block = /-----BEGIN ([A-Z0-9 ]+)-----[\sA-Za-z0-9+/=]*-----END \1-----/g;
  const text = value.replaceAll("\\n", "\n");
  const isAll = text.replace(block, "").trim() === "";
  return isAll ? [...text.matchAll(block)].map(([pem]) => pem) : undefined;
}

function jwks(value: string): unknown[] | undefined {
  try {
    const parsed: unknown = JSON.parse(value);
    if (Array.isArray(parsed)) return parsed;
    const { keys } = parsed as { keys?: unknown };
    return Array.isArray(keys) ? keys : [parsed];
  } catch {
    return undefined;
  }
}
