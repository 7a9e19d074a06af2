/** POST token (RFC 6749 §3.2): the pipeline that every grant runs through. */
import { type Form, requireSingle } from "@signet/protocol/form";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Activity } from "../../../core/activity/activity.ts";
import { mayUse } from "../../../core/application-access/application-access.ts";
import type { Clock } from "../../../core/clock.ts";
import { issuerOf, type Organisation } from "../../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import { type AddedClaimsDeps, addedClaims } from "../../../core/tokens/added-claims.ts";
import { signTokens } from "../../../core/tokens/issue-tokens.ts";
import type { PoolSigning } from "../../../core/tokens/pool-signing.ts";
import type { Signer } from "../../../core/tokens/signer.ts";
import { formOf } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import { sendJson } from "../../../http/send-json.ts";
import {
  type ClientAuthenticationDeps,
  type NamedClient,
  nameClient,
  proveClient,
} from "../client-authentication/client-authentication.ts";
import { tokenDevice } from "../client-authentication/client-device.ts";
import type { Grant, ReadGrant } from "./grant.ts";

export interface TokenRouteDeps extends ClientAuthenticationDeps, AddedClaimsDeps {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly organisations: OrganisationDirectory;
  /** Of the applications without a pool. */
  readonly signer: Signer;
  readonly poolSigning: PoolSigning;
  readonly grants: readonly Grant[];
  readonly activity: Pick<Activity, "count">;
}

export function tokenRoute(app: FastifyInstance, deps: TokenRouteDeps): void {
  const grants = new Map<string, Grant>(deps.grants.map((grant) => [grant.grantType, grant]));
  const { count } = deps.activity;

  app.post(
    "/oauth/:org/token",
    inOrganisation<Organisation>(deps.organisations.find, async ({ organisation, request, reply }) => {
      const form = formOf(request);
      requireSingle(form);
      const grantType = form.values.get("grant_type");
      if (grantType === undefined) throw new OAuthError("invalid_request", "grant_type is missing");
      const client = await nameClient(deps, organisation, request, form);
      try {
        const grant = grants.get(grantType);
        const answer = await tokensFor(deps, { organisation, request, form, client, grant });
        count(organisation.id, "tokens");
        return await sendJson(reply, JSON.stringify(answer));
      } catch (error) {
        if (error instanceof OAuthError && !isStillWaiting(error)) count(organisation.id, "refused-tokens");
        throw error;
      }
    }),
  );
}

/** What a device is told while its user has not answered yet (RFC 8628 §3.5). */
const isStillWaiting = ({ code }: OAuthError): boolean =>
  code === "authorization_pending" || code === "slow_down";

interface Asked {
  readonly organisation: Organisation;
  readonly request: FastifyRequest;
  readonly form: Form;
  readonly client: NamedClient;
  /** Undefined for a grant type that nobody knows. */
  readonly grant: Grant | undefined;
}

/** @returns the answer's members. @throws OAuthError */
async function tokensFor(
  deps: TokenRouteDeps,
  { organisation, request, form, client, grant }: Asked,
): Promise<object> {
  const { application, device: proven } = await proveClient(deps, organisation, request, client);
  if (!grant) throw new OAuthError("unsupported_grant_type", "this grant_type is not supported");
  if (!application.settings.grantTypes.includes(grant.grantType)) {
    throw new OAuthError("unauthorized_client", "the client may not use this grant_type");
  }
  const now = deps.clock();
  const isPoolSigned = application.settings.signingPoolId !== undefined;
  const issuer = isPoolSigned
    ? await deps.poolSigning.issuer(organisation, application)
    : issuerOf(deps.baseUrl, organisation.id);
  const address = addressOf(request);
  const device = await tokenDevice(deps, application, proven, request);
  const deviceId = device?.id ?? null;
  const read = await grant.read({ organisation, application, form, issuer, now, address, deviceId });
  await requireAdmitted(deps, read);
  const added = await addedClaims(deps, read.subject);
  const subject = { ...read.subject, ...(device ? { device } : {}), added };
  const { proofHash, begun } = read;
  const signed = await signTokens(isPoolSigned ? deps.poolSigning : deps.signer, organisation, subject, {
    now,
    clock: deps.clock,
    occasion: {
      grantType: grant.grantType,
      address,
      ...(proofHash === undefined ? {} : { proofHash }),
      ...(begun === undefined ? {} : { begun }),
    },
  });
  const committed = await read.commit(signed.release);
  return { ...signed.answer(), ...committed };
}

/** Whatever the grant: who was taken off an application of assigned users gets no more tokens there. */
async function requireAdmitted(
  { database }: TokenRouteDeps,
  { subject: { application, user } }: ReadGrant,
): Promise<void> {
  if (user === undefined || (await mayUse(database.query, application, user.user.id))) return;
  const cause = "the user is not assigned to the application";
  throw new OAuthError("invalid_grant", "the user may not use this application", { cause });
}
