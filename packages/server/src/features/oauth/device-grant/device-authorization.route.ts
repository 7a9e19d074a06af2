/** POST /oauth/{org}/device (RFC 8628 §3.1): a client without a browser gets a code that a user enters elsewhere. */

import { type Form, requireSingle } from "@signet/protocol/form";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyInstance } from "fastify";
import { type Application, deviceCodeGrantType } from "../../../core/applications/application.ts";
import {
  commandLineClientId,
  requireCommandLineClient,
} from "../../../core/applications/command-line-client.ts";
import {
  DEVICE_CODE_LIFETIME_MS,
  type NewDeviceCodes,
  newDeviceCodes,
  POLL_INTERVAL_SECONDS,
} from "../../../core/device-authorizations/device-authorization.ts";
import {
  insertDeviceAuthorization,
  type NewDeviceAuthorization,
} from "../../../core/device-authorizations/device-authorizations.store.ts";
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
import type { RecordDeps } from "../../../core/record-changes.ts";
import { definitionsOf } from "../../../core/scopes/scope-definitions.ts";
import { callOf } from "../../../http/calls/call-route.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import { readScopes } from "../authorize/request/authorization-request.ts";
import {
  authenticateClient,
  type ClientAuthenticationDeps,
  identifyClient,
} from "../client-authentication/client-authentication.ts";
import { limitNetwork } from "../network-limit.ts";
import { refuseDetails, requestedResources } from "../token/grant.ts";

export interface DeviceRouteDeps extends RecordDeps, ClientAuthenticationDeps, AccessDeps {
  readonly organisations: OrganisationDirectory;
  readonly rateLimits: RateLimits;
}

const MAX_USER_AGENT_LENGTH = 300;

function requestedAccess(application: Application, form: Form, rules: AccessRules): Access {
  const { settings } = application;
  if (!settings.grantTypes.includes(deviceCodeGrantType))
    throw new OAuthError("unauthorized_client", "the client may not use the device code grant", {
      reason: "grant-not-allowed",
    });
  refuseDetails(form);
  const asked = {
    scopes: readScopes(form.values.get("scope"), settings.allowedScopes),
    resources: requestedResources(form, nameableBy(application, rules)),
  };
  const access = resolveAccess(asked, application, rules);
  if (settings.signingPoolId !== undefined) tokenResource(access, application, rules);
  return access;
}

export function deviceRoute(app: FastifyInstance, deps: DeviceRouteDeps): void {
  app.post(
    "/oauth/:org/device",
    inOrganisation<Organisation>(deps.organisations.find, async ({ organisation, request, reply }) => {
      const call = callOf(request);
      const { form } = call;
      requireSingle(form);
      if (form.values.get("client_id") === commandLineClientId(organisation.id))
        await requireCommandLineClient(deps, {
          ...{ orgId: organisation.id, actor: "system", address: addressOf(request) },
        });
      const client = await identifyClient(deps, organisation, call);
      const rules = await readAccessRules(deps, organisation.id);
      const { application, scopes, resources } = await deps.refusedRequests.watch(
        client.application,
        "device",
        async () => {
          const { application } = await authenticateClient(deps, organisation, call, client);
          return { application, ...requestedAccess(application, form, rules) };
        },
      );
      // Each request stores a row for fifteen minutes.
      await limitNetwork(deps, organisation.id, {
        ...{ limit: deps.rateLimits["device-address"], from: request },
        what: "device authorization requests",
      });
      const now = deps.clock();
      const codes = await insertWithNewCodes(deps, {
        orgId: organisation.id,
        applicationId: application.id,
        scopes,
        definitions: definitionsOf(rules.customScopes, scopes),
        resources,
        address: addressOf(request),
        userAgent: (request.headers["user-agent"] ?? "").slice(0, MAX_USER_AGENT_LENGTH),
        createdAt: now,
        expiresAt: now + DEVICE_CODE_LIFETIME_MS,
      });
      reply.headers({ "cache-control": "no-store", pragma: "no-cache" });
      return reply.send(authorizationResponse(issuerOf(deps.baseUrl, organisation.id), codes));
    }),
  );
}

/** RFC 8628 §3.2. */
function authorizationResponse(issuer: string, { deviceCode, userCode }: NewDeviceCodes) {
  const verificationUri = `${issuer}/device/verify`;
  return {
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: verificationUri,
    verification_uri_complete: `${verificationUri}?user_code=${userCode}`,
    expires_in: DEVICE_CODE_LIFETIME_MS / 1000,
    interval: POLL_INTERVAL_SECONDS,
  };
}

/** Draws again in the rare case that another pending authorization has the same user code. */
async function insertWithNewCodes(
  { database }: DeviceRouteDeps,
  authorization: Omit<NewDeviceAuthorization, "deviceCodeHash" | "userCodeHash">,
): Promise<NewDeviceCodes> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const codes = newDeviceCodes();
    if (await insertDeviceAuthorization(database.query, { ...authorization, ...codes })) return codes;
  }
  throw new Error("no free user code was found");
}
