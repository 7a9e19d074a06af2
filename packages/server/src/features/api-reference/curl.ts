/** Builds curl samples. Credentials and ids that only the reader knows are shell variables. */
import type { DescribedOperation, SecurityScheme } from "../../http/api/described-operation.ts";
import { queryParameters } from "./parameters.ts";

export interface CurlRequest {
  readonly operation: DescribedOperation;
  readonly baseUrl: string;
  /** One of the operation's OpenAPI paths, with `{name}` parameters. */
  readonly path: string;
  readonly example?: unknown;
}

const shellVariable = (name: string) => `$${name.replace(/([a-z])([A-Z])/g, "$1_$2").toUpperCase()}`;
/** In POSIX shells only a single quote ends a single-quoted word. */
const shellQuote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Signs `$BODY` (specification, "HMAC API authentication"). */
const SIGN_BODY = [
  'SIGNATURE=$(printf %s "$BODY" \\',
  '  | openssl dgst -sha256 -hmac "$SECRET_KEY" -binary | openssl base64 -A)',
].join("\n");

export function curlSample(subject: CurlRequest): string {
  const { operation, example } = subject;
  const { method, body } = operation;
  const isSigned = requires(operation, "systemAccount") || requires(operation, "administratorAccount");
  if (isSigned && operation.isStrictOnly) return strictSample(subject);
  const isJson = body?.contentType === "application/json";
  const parts = [
    `curl -s${method === "GET" ? "" : ` -X ${method}`} "${requestUrl(subject)}"`,
    ...(isSigned ? [`-H "Authorization: $PUBLIC_KEY:$SIGNATURE"`] : []),
    ...(requires(operation, "accessToken") || requires(operation, "apiToken")
      ? [`-H "Authorization: Bearer $ACCESS_TOKEN"`]
      : []),
    ...(requires(operation, "registrationToken") ? [`-H "Authorization: Bearer $REGISTRATION_TOKEN"`] : []),
    ...(requires(operation, "agentKey") ? [`-H "Authorization: Bearer $AGENT_API_KEY"`] : []),
    ...(requires(operation, "deviceCertificate") ? ["--cert device.pem --key device.key"] : []),
    ...(requires(operation, "clientSecretBasic") ? [`-u "$CLIENT_ID:$CLIENT_SECRET"`] : []),
    ...(operation.hasPage ? [`-H 'Accept: application/json'`] : []),
    ...(isJson ? [`-H 'Content-Type: application/json'`] : []),
    ...(body ? bodyArguments(operation, example, isSigned) : []),
  ];
  const call = parts.join(" \\\n  ");
  return isSigned
    ? [`BODY=${isJson ? shellQuote(JSON.stringify(example)) : "''"}`, SIGN_BODY, call].join("\n")
    : call;
}

/** Samples show the first security alternative. */
const requires = ({ security }: DescribedOperation, scheme: SecurityScheme): boolean =>
  security[0]?.includes(scheme) ?? false;

function bodyArguments(
  { body, security }: DescribedOperation,
  example: unknown,
  isSigned: boolean,
): string[] {
  if (isSigned) return [`-d "$BODY"`];
  if (body?.contentType === "application/json") return [`-d ${shellQuote(JSON.stringify(example))}`];
  if (body?.contentType === "application/ocsp-request")
    return [`-H 'Content-Type: ${body.contentType}'`, "--data-binary @request.der"];
  // These parameters are already in the Authorization header.
  const inHeader = security[0]?.includes("clientSecretBasic")
    ? ["client_id", "client_secret"]
    : ["access_token"];
  return Object.entries(example as Record<string, string>)
    .filter(([name]) => !inHeader.includes(name))
    .map(([name, value]) => `--data-urlencode ${shellQuote(`${name}=${value}`)}`);
}

function requestUrl({ operation, baseUrl, path }: CurlRequest): string {
  const needed = queryParameters(operation).filter(({ required }) => required);
  const query = needed.map(({ name }) => `${name}=${shellVariable(name)}`).join("&");
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => shellVariable(name));
  return `${baseUrl}${filled}${query === "" ? "" : `?${query}`}`;
}

/** The strict form: the signature also covers method, address, time and nonce, and is valid once. */
export function strictSample(subject: CurlRequest): string {
  const { operation, baseUrl, example } = subject;
  const { method, body } = operation;
  const address = requestUrl(subject);
  const signed = `${method} "${address.slice(baseUrl.length)}" "$TIMESTAMP" "$NONCE"`;
  return [
    ...(body ? [`BODY=${shellQuote(JSON.stringify(example))}`] : []),
    "TIMESTAMP=$(date +%s)",
    "NONCE=$(openssl rand -hex 16)",
    `SIGNATURE=$(printf '%s\\n%s\\n%s\\n%s\\n${body ? "%s" : ""}' ${signed}${body ? ' "$BODY"' : ""} \\`,
    '  | openssl dgst -sha256 -hmac "$SECRET_KEY" -binary | openssl base64 -A)',
    `curl -s -X ${method} "${address}" \\`,
    '  -H "Authorization: $PUBLIC_KEY:$SIGNATURE" \\',
    `  -H "X-Signet-Timestamp: $TIMESTAMP" -H "X-Signet-Nonce: $NONCE"${body ? " \\" : ""}`,
    ...(body ? [`  -H 'Content-Type: application/json' -d "$BODY"`] : []),
  ].join("\n");
}
