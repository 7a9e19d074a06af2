/**
 * How an authorization request arrives: by its own parameters, pushed before (RFC 9126 §4), or signed as a whole (RFC 9101 §5).
 * The flow that begins here says which, and every step holds it against what the client must do.
 */
import { type Form, requireSingle } from "@signet/protocol/form";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { matchRedirectUri } from "@signet/protocol/oauth/redirect-uri";
import type { Application } from "../../../../core/applications/application.ts";
import { issuerOf, type Organisation } from "../../../../core/organisations/organisation.ts";
import {
  loadPushedRequest,
  REQUEST_URI_PREFIX,
  unusableRequestUri,
} from "../../../../core/pushed-requests/pushed-request.ts";
import { applicationIssuer } from "../../../../core/signing-pools/directory.ts";
import type { BrowserDeps, Visit } from "../browser.ts";
import { createFlow, FLOW_LIFETIME_MS, type Flow, parametersForm } from "../flow.ts";
import { answerWithError } from "./answer.ts";
import { readClient, requestedMode } from "./authorization-request.ts";
import { readSignedRequest, type SignedRequestDeps } from "./signed-request.ts";

/**
 * @returns undefined when the response has been sent
 * @throws OAuthError shown on a page
 */
export async function receivedFlow(deps: BrowserDeps, visit: Visit, query: Form): Promise<Flow | undefined> {
  const { values } = query;
  const object = values.get("request");
  const requestUri = values.get("request_uri");
  if (requestUri?.startsWith(REQUEST_URI_PREFIX) && object === undefined)
    return pushedFlow(deps, visit, query, requestUri);
  if (object !== undefined && requestUri === undefined) return signedFlow(deps, visit, query, object);
  return createFlow(visit.organisation.id, query, deps.clock());
}

/** Only `client_id` counts beside the request_uri. */
async function pushedFlow(
  deps: BrowserDeps,
  { organisation: { id: orgId }, request }: Visit,
  query: Form,
  uri: string,
): Promise<Flow> {
  requireSingle(query, ["client_id", "request_uri"]);
  const application = await readClient(deps, orgId, query, request);
  const pushed = await loadPushedRequest(deps, { orgId, applicationId: application.id, uri });
  if (!pushed) throw unusableRequestUri();
  const { uriHash, isSigned, parameters } = pushed;
  const now = deps.clock();
  const origin = { pushed: uriHash, until: now + FLOW_LIFETIME_MS, isSigned };
  return createFlow(orgId, parametersForm(parameters), now, origin);
}

async function signedFlow(
  deps: BrowserDeps,
  visit: Visit,
  query: Form,
  object: string,
): Promise<Flow | undefined> {
  requireSingle(query, ["client_id", "request"]);
  const { organisation } = visit;
  const application = await readClient(deps, organisation.id, query, visit.request);
  try {
    const form = await signedForm(deps, organisation, application, object);
    return createFlow(organisation.id, form, deps.clock(), { isSigned: true });
  } catch (error) {
    const redirectUri = query.values.get("redirect_uri");
    if (!(error instanceof OAuthError) || redirectUri === undefined) throw error;
    const { settings, clientType } = application;
    if (!matchRedirectUri(redirectUri, settings.redirectUris, clientType)) throw error;
    const state = query.values.get("state");
    await answerWithError(
      deps,
      visit,
      { application, redirectUri, state, ...requestedMode(application, query) },
      error,
    );
    return undefined;
  }
}

/** The request inside a request object. @throws OAuthError invalid_request_object */
export const signedForm = async (
  deps: SignedRequestDeps & Parameters<typeof applicationIssuer>[0],
  { id }: Organisation,
  application: Application,
  object: string,
): Promise<Form> =>
  readSignedRequest(deps, application, object, [
    issuerOf(deps.baseUrl, id),
    await applicationIssuer(deps, application),
  ]);
