/** Lines for a shell with curl and openssl. What only the reader knows stands there as a variable. */
import type { DescribedOperation, SecurityScheme } from "../../http/api/described-operation.ts";
import { queryOf } from "./parameters.ts";

export interface CurlSubject {
  readonly operation: DescribedOperation;
  readonly baseUrl: string;
  /** The path with `{name}` parameters, one of those that the operation has. */
  readonly path: string;
  readonly example?: unknown;
}

const variable = (name: string) => `$${name.replace(/([a-z])([A-Z])/g, "$1_$2").toUpperCase()}`;
/** Nothing ends a single-quoted word of a shell but a quote. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The signature of specification, "HMAC API authentication", over what `$BODY` holds. */
const SIGN = [
  'SIGNATURE=$(printf %s "$BODY" \\',
  '  | openssl dgst -sha256 -hmac "$SECRET_KEY" -binary | openssl base64 -A)',
].join("\n");

export function curlSample(subject: CurlSubject): string {
  const { operation, example } = subject;
  const { method, body } = operation;
  const isSigned = wants(operation, "systemAccount") || wants(operation, "administratorAccount");
  if (isSigned && operation.isStrictOnly) return strictSample(subject);
  const isJson = body?.contentType === "application/json";
  const parts = [
    `curl -s${method === "GET" ? "" : ` -X ${method}`} "${addressOf(subject)}"`,
    ...(isSigned ? [`-H "Authorization: $PUBLIC_KEY:$SIGNATURE"`] : []),
    ...(wants(operation, "accessToken") ? [`-H "Authorization: Bearer $ACCESS_TOKEN"`] : []),
    ...(wants(operation, "agentKey") ? [`-H "Authorization: Bearer $AGENT_API_KEY"`] : []),
    ...(wants(operation, "deviceCertificate") ? ["--cert device.pem --key device.key"] : []),
    ...(wants(operation, "clientSecretBasic") ? [`-u "$CLIENT_ID:$CLIENT_SECRET"`] : []),
    ...(operation.hasPage ? [`-H 'Accept: application/json'`] : []),
    ...(isJson ? [`-H 'Content-Type: application/json'`] : []),
    ...(body ? dataOf(operation, example, isSigned) : []),
  ];
  const call = parts.join(" \\\n  ");
  return isSigned ? [`BODY=${isJson ? quoted(JSON.stringify(example)) : "''"}`, SIGN, call].join("\n") : call;
}

/** The first alternative is the one that is shown. */
const wants = ({ security }: DescribedOperation, scheme: SecurityScheme): boolean =>
  security[0]?.includes(scheme) ?? false;

function dataOf({ body, security }: DescribedOperation, example: unknown, isSigned: boolean): string[] {
  if (isSigned) return [`-d "$BODY"`];
  if (body?.contentType === "application/json") return [`-d ${quoted(JSON.stringify(example))}`];
  if (body?.contentType === "application/ocsp-request")
    return [`-H 'Content-Type: ${body.contentType}'`, "--data-binary @request.der"];
  // What the header says already would be said twice.
  const inHeader = security[0]?.includes("clientSecretBasic")
    ? ["client_id", "client_secret"]
    : ["access_token"];
  return Object.entries(example as Record<string, string>)
    .filter(([name]) => !inHeader.includes(name))
    .map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`);
}

function addressOf({ operation, baseUrl, path }: CurlSubject): string {
  const needed = queryOf(operation).filter(({ required }) => required);
  const query = needed.map(({ name }) => `${name}=${variable(name)}`).join("&");
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => variable(name));
  return `${baseUrl}${filled}${query === "" ? "" : `?${query}`}`;
}

/** The strict form: the signature covers method, address, time and nonce too, and is good once. */
export function strictSample(subject: CurlSubject): string {
  const { operation, baseUrl, example } = subject;
  const { method, body } = operation;
  const address = addressOf(subject);
  const signed = `${method} "${address.slice(baseUrl.length)}" "$TIMESTAMP" "$NONCE"`;
  return [
    ...(body ? [`BODY=${quoted(JSON.stringify(example))}`] : []),
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
