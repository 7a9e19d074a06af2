/** Parses the `claims` parameter (OpenID Connect Core §5.5): individually requested claims of ID token and userinfo. */
import { isNestedWithin, MAX_JSON_DEPTH } from "@signet/protocol/json-depth";
import { isExactJson } from "@signet/protocol/json-exact";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import {
  type ClaimRequest,
  type ClaimRequests,
  noRequestedClaims,
  type RequestedClaims,
} from "../../../../core/scopes/requested-claims.ts";

/** Each name may end up in a token and a database row. */
const MAX_CLAIMS = 100;

const malformed = (problem: string) => new OAuthError("invalid_request", `claims is malformed: ${problem}`);

/**
 * Unknown members are ignored at every level (§5.5).
 * @throws OAuthError invalid_request
 */
export function parseRequestedClaims(text: string | undefined): RequestedClaims {
  if (text === undefined) return noRequestedClaims;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw malformed("it is not JSON");
  }
  if (!isObject(parsed)) throw malformed("it must be a JSON object");
  if (!isNestedWithin(parsed)) throw malformed(`it is nested more than ${MAX_JSON_DEPTH} deep`);
  if (!isExactJson(parsed)) throw malformed("it has half of a surrogate pair, or a number out of range");
  return {
    userinfo: readRequests("userinfo", parsed["userinfo"]),
    idToken: readRequests("id_token", parsed["id_token"]),
  };
}

function readRequests(member: string, value: unknown): ClaimRequests {
  if (value === undefined) return {};
  if (!isObject(value)) throw malformed(`${member} must be an object`);
  const entries = Object.entries(value);
  if (entries.length > MAX_CLAIMS) throw malformed(`${member} has more than ${MAX_CLAIMS} members`);
  // `fromEntries` defines members and never sets them: a claim named __proto__ stays a claim.
  return Object.fromEntries(entries.map(([name, request]) => [name, readRequest(member, request)]));
}

function readRequest(member: string, request: unknown): ClaimRequest {
  // Null: a voluntary claim with any value.
  if (request === null) return { essential: false, values: undefined };
  if (!isObject(request)) throw malformed(`each member of ${member} must be null or an object`);
  const { essential = false, value, values } = request;
  if (typeof essential !== "boolean") throw malformed("essential must be true or false");
  if (values !== undefined && !Array.isArray(values)) throw malformed("values must be an array");
  return { essential, values: values ?? (value === undefined ? undefined : [value]) };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
