/** POST /oauth/{org}/par (RFC 9126): an authorization request that the client itself leaves here, before the browser comes. */
import { type Form, requireSingle } from "@signet/protocol/form";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import { useDpopProof } from "../../../core/dpop/dpop-proof.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import { type AccessDeps, readAccessRules } from "../../../core/protected-resources/asked-access.ts";
import {
  PUSHED_REQUEST_LIFETIME_SECONDS,
  storePushedRequest,
} from "../../../core/pushed-requests/pushed-request.ts";
import type { RateLimits } from "../../../core/rate-limits/rate-limits.ts";
import { type Answer, type Call, jsonAnswer } from "../../../http/calls/call.ts";
import { callRoute } from "../../../http/calls/call-route.ts";
import type { DirectCalls } from "../../../http/calls/direct-calls.ts";
import { callInOrganisation } from "../../../http/organisation-lookup.ts";
import { createFlow, FLOW_LIFETIME_MS, type Flow, type Flows } from "../authorize/flow.ts";
import { readAuthorizationRequest, readTarget } from "../authorize/request/authorization-request.ts";
import { signedForm } from "../authorize/request/received-request.ts";
import { requireOrigin } from "../authorize/request/request-origin.ts";
import { MAX_SEALED, requireKnownPrompts } from "../authorize/take-step.ts";
import {
  authenticateClient,
  type ClientAuthenticationDeps,
  identifyClient,
} from "../client-authentication/client-authentication.ts";
import { limitNetwork } from "../network-limit.ts";
import { atEndpoint, type DpopDeps, presentedProof, withDpopNonce } from "../sender-constraint.ts";

export interface ParRouteDeps extends ClientAuthenticationDeps, DpopDeps, AccessDeps {
  readonly organisations: OrganisationDirectory;
  readonly flows: Pick<Flows, "seal">;
  readonly rateLimits: Pick<RateLimits, "par-address" | "client-document-address">;
}

export function parRoute(app: FastifyInstance, direct: DirectCalls, deps: ParRouteDeps): void {
  const handler = callInOrganisation<Organisation>(
    deps.organisations.find,
    withDpopNonce(deps, (organisation, call) => answerPushedRequest(deps, organisation, call)),
  );
  callRoute(app, direct, { method: "POST", path: "/oauth/:org/par" }, handler);
}

async function answerPushedRequest(
  deps: ParRouteDeps,
  organisation: Organisation,
  call: Call,
): Promise<Answer> {
  requireSingle(call.form);
  const client = await identifyClient(deps, organisation, call);
  const uri = await deps.refusedRequests.watch(client.application, "par", async () => {
    const { application } = await authenticateClient(deps, organisation, call, client);
    return pushRequest(deps, organisation, application, call);
  });
  const answer = jsonAnswer({ request_uri: uri, expires_in: PUSHED_REQUEST_LIFETIME_SECONDS });
  return { ...answer, status: 201 };
}

async function pushRequest(
  deps: ParRouteDeps,
  organisation: Organisation,
  application: Application,
  call: Call,
): Promise<string> {
  const proof = presentedProof(
    deps,
    organisation,
    atEndpoint(deps, organisation, call),
    application.settings,
  );
  const { flow, form } = await askedFlow(deps, organisation, application, call.form);
  const target = await readTarget(deps, organisation.id, form, call);
  requireOrigin(organisation, application, flow.origin);
  const asked = readAuthorizationRequest(target, form, await readAccessRules(deps, organisation.id));
  requireKnownPrompts(organisation, asked);
  const { dpopJkt } = asked;
  if (proof && dpopJkt !== null && dpopJkt !== proof.jkt)
    throw new OAuthError("invalid_dpop_proof", "dpop_jkt names another key than the DPoP proof");
  if (deps.flows.seal(flow).length > MAX_SEALED)
    throw new OAuthError("invalid_request", "the request is too long");
  // Anybody can push in the name of a public client, and each request stores a row for a minute.
  if (application.settings.tokenEndpointAuthMethod === "none")
    await limitNetwork(deps, organisation.id, {
      ...{ limit: deps.rateLimits["par-address"], from: call, what: "pushed authorization requests" },
    });
  if (proof) await useDpopProof(deps.database.query, organisation.id, proof);
  const others = flow.parameters.filter(([name]) => name !== "dpop_jkt");
  return storePushedRequest(deps, {
    orgId: organisation.id,
    applicationId: application.id,
    parameters: proof ? [...others, ["dpop_jkt", proof.jkt]] : flow.parameters,
    isSigned: flow.origin?.isSigned === true,
  });
}

/** As long as a hash: the flow that `authorize` begins with the request has one. */
const PUSHED = "x".repeat(43);

/** The request as `authorize` will load it. @throws OAuthError */
async function askedFlow(
  deps: ParRouteDeps,
  organisation: Organisation,
  application: Application,
  sent: Form,
): Promise<{ readonly flow: Flow; readonly form: Form }> {
  // RFC 9126 §2.1.
  if (sent.values.has("request_uri")) throw new OAuthError("invalid_request", "request_uri cannot be pushed");
  const object = sent.values.get("request");
  const asked = object === undefined ? sent : await signedForm(deps, organisation, application, object);
  // A client that authenticates by a header or an assertion need not name itself again.
  const form = { ...asked, values: new Map([...asked.values, ["client_id", application.id] as const]) };
  const now = deps.clock();
  const origin = { pushed: PUSHED, until: now + FLOW_LIFETIME_MS, isSigned: object !== undefined };
  return { flow: createFlow(organisation.id, form, now, origin), form };
}
