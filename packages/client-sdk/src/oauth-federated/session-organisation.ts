/**
 * An application of several organisations (`organisations`): a sign-in begins at the service's common entry, and `iss` of its response
 * (RFC 9207) says at which issuer it goes on. A session stays with that one.
 */
import { decodeJwt } from "jose";
import { isUuid, named } from "../configuration/properties.ts";
import { SignetError } from "../errors.ts";
import type { OrganisationIssuer, OrganisationIssuers } from "../provider/organisation-issuers.ts";
import type { LoginAttempt } from "../sign-in/login-attempts.ts";
import { filterPaths } from "../sign-in/sign-in.ts";
import type { FederatedContext } from "./federated-context.ts";
import type { FederatedSession } from "./federated-session.ts";

const at = (context: FederatedContext, { issuer, provider }: OrganisationIssuer): FederatedContext => ({
  ...context,
  ...{ issuer, provider, keys: provider.keys },
});

/**
 * The organisation that a sign-in asks for: of the link (`/signet/login?organisation=…`), or the only one.
 * @throws SignetError `token_organisation`, `request_malformed`
 */
export async function organisationWanted(
  { organisations, basePath }: FederatedContext,
  request: Request,
): Promise<string | undefined> {
  if (organisations === undefined) return undefined;
  const { pathname, searchParams } = new URL(request.url);
  const asked = pathname === filterPaths(basePath).login ? searchParams.get("organisation") : null;
  if (asked === null) return organisations.only;
  if (!isUuid(asked)) throw new SignetError("request_malformed", "The organisation is not a PublicId.");
  const organisationId = asked.toLowerCase();
  await organisations.requireAccepted(organisationId);
  return organisationId;
}

/** @throws SignetError `provider_answer`, `token_organisation` */
export async function atResponse(
  context: FederatedContext,
  { organisation }: LoginAttempt,
  iss: string | undefined,
): Promise<FederatedContext> {
  const { organisations } = context;
  if (organisations === undefined) {
    // RFC 9207 §2.4, mix-up attacks: the response of another provider would take our code there.
    const { authorization_response_iss_parameter_supported: isRequired } = await context.provider.metadata();
    if (iss === undefined ? isRequired : iss !== context.issuer) throw otherProvider();
    return context;
  }
  const found = organisations.find(iss);
  if (found === undefined) throw otherProvider();
  if (organisation !== undefined && organisation !== found.organisationId) throw otherProvider();
  await organisations.requireAccepted(found.organisationId);
  return at(context, found);
}

const otherProvider = () =>
  new SignetError("provider_answer", "The response names another provider, or none.");

/** @param iss of a logout token that nobody has verified yet. @throws SignetError `token_issuer`, `token_organisation` */
export async function atIssuer(context: FederatedContext, iss: () => unknown): Promise<FederatedContext> {
  const { organisations } = context;
  return organisations === undefined ? context : at(context, await organisations.require(iss()));
}

/** Its ID token has been verified when it was issued, and the cookie is sealed. */
export function atSession(context: FederatedContext, session: FederatedSession): FederatedContext {
  const { organisations } = context;
  if (organisations === undefined) return context;
  return at(context, organisationOf(organisations, session));
}

/** Whether the session's organisation is still accepted. @throws SignetError `provider_unreachable` */
export async function isStillAccepted(
  { organisations }: FederatedContext,
  session: FederatedSession,
): Promise<boolean> {
  if (organisations === undefined) return true;
  return organisations.isAccepted(organisationOf(organisations, session).organisationId);
}

function organisationOf(
  organisations: OrganisationIssuers,
  { idToken }: FederatedSession,
): OrganisationIssuer {
  const found = organisations.find(decodeJwt(idToken).iss);
  if (found) return found;
  throw new SignetError(
    "token_issuer",
    `The session is of another service. Check ${named("federationServer")}.`,
  );
}
