/** A POST from another site comes without our Lax cookies: the same request by GET has them. */
import { type Form, parseForm } from "@signet/protocol/form";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { orgPath, type Visit } from "../browser.ts";
import { parametersOf } from "../flow.ts";

/** Characters; beside the browser's own headers it must fit into the 16 KiB of a request's head. */
const MAX_QUERY = 12_000;

/**
 * Only what parses goes on, and into a query of our own making.
 * @throws OAuthError with status 414 when it is too long for an address
 */
export async function repeatByGet(
  { organisation, reply }: Visit,
  endpoint: "authorize" | "end_session",
  form: Form,
): Promise<void> {
  const query = new URLSearchParams(parametersOf(form).map(([...pair]) => pair)).toString();
  if (query.length > MAX_QUERY)
    throw new OAuthError("invalid_request", "The request is too long.", { status: 414 });
  parseForm(query);
  await reply
    .header("cache-control", "no-store")
    .redirect(`${orgPath(organisation, endpoint)}?${query}`, 303);
}
