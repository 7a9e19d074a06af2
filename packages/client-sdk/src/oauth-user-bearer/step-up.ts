/** Step-up authentication (RFC 9470): a request that needs the user to have signed in better, or more recently. */
import { SignetError } from "../errors.ts";
import type { Principal } from "../principal.ts";
import { challenge } from "./unauthorized-response.ts";

/** How the user must have signed in. At least one of the two. */
export interface RequiredAuthentication {
  /** One of these must be the token's `acr`, e.g. `urn:signet:acr:mfa`. */
  readonly acrValues?: readonly string[] | undefined;
  /** The sign-in must not be older. */
  readonly maxAgeSeconds?: number | undefined;
  /** Milliseconds since the epoch, for tests. */
  readonly clock?: () => number;
}

/** Accepted clock skew. */
const TOLERANCE_SECONDS = 60;

/**
 * For handlers that do something grave. A client that gets the 401 asks the user again, with the `acr_values` and `max_age` of its
 * challenge, and repeats the request with the new token. Every adapter turns the error into the same response.
 * @throws SignetError `insufficient_user_authentication`, status 401
 * @example
 * app.post("/transfers", (request, response) => {
 *   requireAuthentication(requirePrincipal(request), { acrValues: ["phr"], maxAgeSeconds: 300 });
 *   response.sendStatus(204);
 * });
 */
export function requireAuthentication(
  { claims }: Pick<Principal, "claims">,
  { acrValues, maxAgeSeconds, clock = Date.now }: RequiredAuthentication,
): void {
  const { acr, auth_time: authTime } = claims;
  const hasLevel = acrValues === undefined || (typeof acr === "string" && acrValues.includes(acr));
  const age = typeof authTime === "number" ? clock() / 1000 - authTime : Number.NaN;
  const isRecent = maxAgeSeconds === undefined || age <= maxAgeSeconds + TOLERANCE_SECONDS;
  if (hasLevel && isRecent) return;
  const description = hasLevel
    ? "The sign-in is too old."
    : "The request needs a stronger sign-in of the user.";
  const required = authenticationParameters({ acrValues, maxAgeSeconds });
  const error = { error: "insufficient_user_authentication", error_description: description };
  throw new SignetError("insufficient_user_authentication", description, {
    headers: { "www-authenticate": challenge("Bearer", { ...error, ...required }) },
  });
}

/** RFC 9470 §3. */
export const authenticationParameters = ({
  acrValues,
  maxAgeSeconds,
}: Pick<RequiredAuthentication, "acrValues" | "maxAgeSeconds">) => ({
  acr_values: acrValues?.join(" "),
  max_age: maxAgeSeconds === undefined ? undefined : String(maxAgeSeconds),
});
