/** POST /oauth/{org}/bc-authorize (CIBA Core §7): a client asks for the authentication of a user, who decides elsewhere. */
import { type Form, requireSingle } from "@signet/protocol/form";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyInstance } from "fastify";
import { type Application, cibaGrantType } from "../../../core/applications/application.ts";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import type { AuthorizationDetail } from "../../../core/authorization-details/detail-type.ts";
import { readDetails, targetsOfDetails, usableTypes } from "../../../core/authorization-details/details.ts";
import { isBindingMessage, newCibaIds, requestLifetime } from "../../../core/ciba-requests/ciba-request.ts";
import { insertCibaRequest } from "../../../core/ciba-requests/ciba-requests.store.ts";
import { POLL_INTERVAL_SECONDS } from "../../../core/device-authorizations/device-authorization.ts";
import { NO_LANGUAGE } from "../../../core/mail/mail.ts";
import type { Outbox } from "../../../core/mail/outbox.ts";
import { issuerOf, type Organisation } from "../../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import {
  type Access,
  type AccessDeps,
  type AccessRules,
  nameableBy,
  readAccessRules,
  resolveAccess,
  tokenResource,
} from "../../../core/protected-resources/asked-access.ts";
import type { RateLimits } from "../../../core/rate-limits/rate-limits.ts";
import { definitionsOf } from "../../../core/scopes/scope-definitions.ts";
import type { User } from "../../../core/users/user.ts";
import type { Db } from "../../../db/open.ts";
import { type Call, jsonAnswer } from "../../../http/calls/call.ts";
import { callRoute } from "../../../http/calls/call-route.ts";
import type { DirectCalls } from "../../../http/calls/direct-calls.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { callInOrganisation } from "../../../http/organisation-lookup.ts";
import { readScopes } from "../authorize/request/authorization-request.ts";
import {
  authenticateClient,
  type ClientAuthenticationDeps,
  identifyClient,
} from "../client-authentication/client-authentication.ts";
import { limitRequests } from "../network-limit.ts";
import { requestedResources } from "../token/grant.ts";
import { type HintedUserDeps, requireHintedUser, requireOneHint } from "./hinted-user.ts";

export interface CibaRouteDeps
  extends Omit<ClientAuthenticationDeps, "signingPools">,
    AccessDeps,
    Omit<HintedUserDeps, "signingPools" | "applications"> {
  readonly signingPools: ClientAuthenticationDeps["signingPools"] & HintedUserDeps["signingPools"];
  readonly organisations: OrganisationDirectory;
  readonly rateLimits: Pick<
    RateLimits,
    "ciba-client" | "ciba-client-user" | "ciba-user" | "client-document-address"
  >;
  readonly outbox: Outbox;
}

export function backchannelAuthenticationRoute(
  app: FastifyInstance,
  direct: DirectCalls,
  deps: CibaRouteDeps,
): void {
  const handler = callInOrganisation<Organisation>(deps.organisations.find, async (organisation, call) => {
    requireSingle(call.form);
    const client = await identifyClient(deps, organisation, call);
    const response = await deps.refusedRequests.watch(client.application, "bc-authorize", async () => {
      const { application } = await authenticateClient(deps, organisation, call, client);
      return requestAuthentication(deps, organisation, application, call);
    });
    return jsonAnswer(response);
  });
  callRoute(app, direct, { method: "POST", path: "/oauth/:org/bc-authorize" }, handler);
}

/** CIBA Core §7.3. */
interface AuthenticationResponse {
  readonly auth_req_id: string;
  readonly expires_in: number;
  readonly interval: number;
}

async function requestAuthentication(
  deps: CibaRouteDeps,
  organisation: Organisation,
  application: Application,
  call: Call,
): Promise<AuthenticationResponse> {
  const { form } = call;
  const orgId = organisation.id;
  const rules = await readAccessRules(deps, orgId);
  const asked = readRequest(application, form, rules);
  const count = (counted: Parameters<typeof limitRequests>[2]) =>
    limitRequests(deps, orgId, counted, "too many authentication requests");
  // Before anybody is looked for: a client cannot try out who is here.
  await count([{ limit: deps.rateLimits["ciba-client"], subject: application.id }]);
  const user = await requireHintedUser(deps, organisation, application, form.values);
  await count([
    { limit: deps.rateLimits["ciba-client-user"], subject: `${application.id}:${user.id}` },
    { limit: deps.rateLimits["ciba-user"], subject: user.id },
  ]);
  const now = deps.clock();
  const { id, authReqId, requestHash } = newCibaIds();
  const { lifetimeSeconds, ...request } = asked;
  const expiresAt = now + lifetimeSeconds * 1000;
  await deps.database.transaction(async (tx) => {
    await insertCibaRequest(tx, {
      ...{ orgId, id, requestHash, applicationId: application.id, userId: user.id },
      ...request,
      definitions: definitionsOf(rules.customScopes, request.scopes),
      ...{ createdAt: now, expiresAt },
    });
    await recordAuditEvent(tx, {
      ...{ orgId, at: now, actor: `client:${application.id}`, address: addressOf(call) },
      ...{ action: "ciba-request.created", target: user.id, applicationId: application.id },
      details: { scopes: request.scopes },
    });
    const link = `${issuerOf(deps.baseUrl, orgId)}/account/requests/${id}`;
    await tellUser(tx, deps, user, { link, expiresAt });
  });
  return { auth_req_id: authReqId, expires_in: lifetimeSeconds, interval: POLL_INTERVAL_SECONDS };
}

/** Where there is no mail, and for an address that nobody has proven to own, the account page alone tells of it. */
async function tellUser(
  tx: Db,
  { outbox }: CibaRouteDeps,
  { orgId, email, emailVerified, locale }: User,
  { link, expiresAt }: { readonly link: string; readonly expiresAt: number },
): Promise<void> {
  if (!outbox.isOpen || !emailVerified) return;
  await outbox.put(tx, {
    ...{ orgId, recipient: email, locale: locale ?? NO_LANGUAGE },
    mail: { template: "ApprovalRequested", data: { link, expiresAt, isVerified: true } },
  });
}

interface RequestedAuthentication extends Access {
  readonly authorizationDetails: readonly AuthorizationDetail[];
  readonly bindingMessage: string | null;
  readonly acrValues: string | null;
  readonly lifetimeSeconds: number;
}

const invalid = (description: string) => new OAuthError("invalid_request", description);
const MAX_ACR_VALUES = 500;

/** @throws OAuthError */
function readRequest(application: Application, form: Form, rules: AccessRules): RequestedAuthentication {
  const { settings } = application;
  const { values } = form;
  if (!settings.grantTypes.includes(cibaGrantType))
    throw new OAuthError("unauthorized_client", "the client may not use the CIBA grant", {
      reason: "grant-not-allowed",
    });
  if (values.has("request")) throw invalid("signed authentication requests are not supported");
  requireOneHint(values);
  const bindingMessage = values.get("binding_message") ?? null;
  if (bindingMessage !== null && !isBindingMessage(bindingMessage))
    throw new OAuthError(
      "invalid_binding_message",
      "binding_message must be plain text of 1 to 100 characters",
    );
  const lifetimeSeconds = requestLifetime(values.get("requested_expiry"));
  if (lifetimeSeconds === undefined) throw invalid("requested_expiry must be a positive number of seconds");
  const acrValues = values.get("acr_values") ?? null;
  if ((acrValues?.length ?? 0) > MAX_ACR_VALUES) throw invalid("acr_values is too long");
  return { ...requestedAccess(application, form, rules), bindingMessage, acrValues, lifetimeSeconds };
}

/** @throws OAuthError */
function requestedAccess(application: Application, form: Form, rules: AccessRules) {
  const { allowedScopes, signingPoolId } = application.settings;
  // CIBA Core §7.1 requires it; elsewhere it may be left out.
  if (!form.values.get("scope")) throw invalid("scope is missing: it must contain openid");
  const usable = usableTypes(application, rules.detailTypes);
  const authorizationDetails = readDetails(form.values.get("authorization_details"), usable);
  const nameable = nameableBy(application, rules);
  const named = requestedResources(form, nameable);
  const asked = {
    scopes: readScopes(form.values.get("scope"), allowedScopes),
    resources: targetsOfDetails(authorizationDetails, usable, { named, nameable }),
  };
  // CIBA Core §7.1: it is about who the user is.
  if (!asked.scopes.includes("openid"))
    throw new OAuthError("invalid_scope", "scope must contain openid", { reason: "scope-not-allowed" });
  const access = resolveAccess(asked, application, rules);
  if (signingPoolId !== undefined) tokenResource(access, application, rules);
  return { ...access, authorizationDetails };
}
