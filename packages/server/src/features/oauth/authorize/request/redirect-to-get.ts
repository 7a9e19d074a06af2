/** A cross-site POST arrives without Lax cookies: the browser repeats the request by GET, with them. */
import { type Form, parseForm } from "@signet/protocol/form";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { orgPath, redirectTo, type Visit } from "../browser.ts";
import { formParameters } from "../flow.ts";

/** Characters; with the browser's own headers it must fit into the 16 KiB of a request's head. */
const MAX_QUERY = 12_000;

/** @throws OAuthError 414 if the form doesn't fit into a query */
export async function redirectToGet(
  visit: Visit,
  endpoint: "authorize" | "end_session",
  form: Form,
): Promise<void> {
  const query = new URLSearchParams(formParameters(form).map(([...pair]) => pair)).toString();
  if (query.length > MAX_QUERY)
    throw new OAuthError("invalid_request", "The request is too long.", { status: 414 });
  parseForm(query);
  await redirectTo(visit, `${orgPath(visit.organisation, endpoint)}?${query}`);
}
