/**
 * GET and POST connections/{id}/saml/slo (SAML 2.0 Profiles §4.4): who has signed out at the identity provider has nothing here any
 * more, and is answered; who has signed out here comes back from there.
 */
import { randomSecret } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyInstance } from "fastify";
import { samlAddresses } from "../../../../core/connections/connection-addresses.ts";
import { serviceKey } from "../../../../core/connections/saml/sp-key.ts";
import { parseXml, XmlRefused } from "../../../../core/connections/saml/xml.ts";
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";
import { takeLogout } from "../../../../core/connections/sign-in/saml-returns.store.ts";
import type { SignInConnection } from "../../../../core/connections/sign-in/sign-in-connections.ts";
import { providerOf } from "../../../../core/connections/sign-in/sign-in-settings.ts";
import { endUpstreamSessions, nameIdHash } from "../../../../core/connections/sign-in/upstream-sign-ins.ts";
import { consumeOnce } from "../../../../core/consumed-values.store.ts";
import { countAttempt, networkPrefix } from "../../../../core/rate-limits/rate-limits.ts";
import { NotFound } from "../../../../http/errors.ts";
import { parsedForm } from "../../../../http/form-body.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import { browserRoute, orgPath, redirectTo, type Visit } from "../../authorize/browser.ts";
import { namedConnection, startSecrets } from "../connection-visit.ts";
import { MAX_FORM_BYTES } from "./acs.route.ts";
import { requestId } from "./authn-request.ts";
import { logoutResponseAddress } from "./logout-messages.ts";
import { readPost } from "./post-binding.ts";
import type { SamlDeps } from "./provider-keys.ts";
import {
  type LogoutContext,
  type LogoutRequest,
  readLogoutRequest,
  requireLogoutResponse,
} from "./read-logout.ts";
import { readRedirect } from "./redirect-binding.ts";
import type { SentMessage } from "./sent-message.ts";

/** Of the provider's own, given back as it is; the specification has 80 bytes. */
const MAX_RELAY_STATE = 1_024;

export function samlSloRoutes(app: FastifyInstance, deps: SamlDeps): void {
  app.get("/oauth/:org/connections/:id/saml/slo", browserRoute(deps, receiveRedirect));
  const options = { bodyLimit: MAX_FORM_BYTES };
  app.post("/oauth/:org/connections/:id/saml/slo", options, browserRoute(deps, receivePost));
}

const receiveRedirect = (deps: SamlDeps, visit: Visit): Promise<void> =>
  receive(deps, visit, () => readRedirect(/\?(.*)$/s.exec(visit.request.url)?.[1] ?? ""));

const receivePost = (deps: SamlDeps, visit: Visit): Promise<void> =>
  receive(deps, visit, () => readPost(parsedForm(visit.request)));

async function receive(deps: SamlDeps, visit: Visit, read: () => SentMessage): Promise<void> {
  const connection = await loggingOut(deps, visit);
  // Each message costs the check of a signature.
  const limit = deps.rateLimits["connection-start-address"];
  const subject = networkPrefix(addressOf(visit.request));
  await countAttempt(deps, connection.orgId, [{ limit, subject }]);
  try {
    const sent = read();
    if ((sent.relayState?.length ?? 0) > MAX_RELAY_STATE) throw new XmlRefused("its RelayState is too long");
    return await (sent.name === "SAMLRequest"
      ? endSignIns(deps, visit, connection, sent)
      : comeBack(deps, visit, connection, sent));
  } catch (error) {
    if (error instanceof XmlRefused) throw refused(`xml-refused (${error.message})`);
    if (!(error instanceof ConnectionSignInFailure)) throw error;
    const { reason, detail } = error;
    throw refused(detail === undefined ? reason : `${reason} (${detail})`);
  }
}

/** On a page, for who looks for the fault. The provider is told nothing: who has written it is not known. */
const refused = (text: string) =>
  new OAuthError("invalid_request", `The logout message was refused: ${text}.`);

/** Also one that is disabled: whoever came by it may still be signed in. @throws NotFound */
async function loggingOut(deps: SamlDeps, visit: Visit): Promise<SignInConnection> {
  const connection = (await namedConnection(deps, visit))?.connection;
  if (connection?.kind !== "saml" || !connection.settings.upstreamLogout) throw new NotFound("connection");
  return connection;
}

function contextOf(deps: SamlDeps, connection: SignInConnection): LogoutContext {
  const { entityId } = providerOf(connection.settings);
  const { sloUri, spEntityId } = samlAddresses(deps.baseUrl, connection);
  const key = () => serviceKey(deps.encryption, connection);
  return { entityId, sloUri, spEntityId, key, now: deps.clock() };
}

/** As it was signed. @throws ConnectionSignInFailure, XmlRefused */
async function signedRoot({ samlKeys }: SamlDeps, connection: SignInConnection, sent: SentMessage) {
  const root = await parseXml(sent.xml);
  return samlKeys.check(connection, (certificates) => sent.verify(root, certificates));
}

async function endSignIns(
  deps: SamlDeps,
  visit: Visit,
  connection: SignInConnection,
  sent: SentMessage,
): Promise<void> {
  const context = contextOf(deps, connection);
  const request = await readLogoutRequest(await signedRoot(deps, connection, sent), context);
  await endOnce(deps, connection, request, addressOf(visit.request));
  const { sloUrl: requests, sloResponseUrl = requests } = providerOf(connection.settings);
  // Nowhere to answer: the person is told, and nobody else.
  if (sloResponseUrl === null) return redirectTo(visit, loggedOut(visit, connection));
  const { spEntityId, key, now } = context;
  const sender = { sloUrl: sloResponseUrl, spEntityId, key: key(), now };
  const answered = { requestId: request.id, relayState: sent.relayState };
  await redirectTo(visit, logoutResponseAddress(sender, `_${randomSecret("")}`, answered));
}

async function endOnce(
  { database, clock }: SamlDeps,
  { orgId, id: connectionId }: SignInConnection,
  { id, usedUntil, nameId, sessionIndexes }: LogoutRequest,
  address: string,
): Promise<void> {
  const act = { orgId, actor: `connection:${connectionId}`, address };
  const end = { act, reason: "signed_out_upstream" as const, now: clock() };
  await database.transaction(async (tx) => {
    const use = { orgId, kind: "saml-logout", value: `${connectionId}|${id}`, expiresAt: usedUntil };
    if (!(await consumeOnce(tx, use))) throw refused("assertion-replayed (the message was used before)");
    // An index alone may be another's too: Core §2.7.2 recommends small numbers.
    const whose = { orgId, connectionId, nameIdHash: nameIdHash(nameId.text) };
    if (sessionIndexes === undefined) await endUpstreamSessions(tx, whose, end);
    else for (const sid of sessionIndexes) await endUpstreamSessions(tx, { ...whose, sid }, end);
  });
}

/** RelayState is the handle of a sign-out that began here, and never an address. */
async function comeBack(
  deps: SamlDeps,
  visit: Visit,
  connection: SignInConnection,
  sent: SentMessage,
): Promise<void> {
  const { relayState: handle } = sent;
  const asked =
    handle === undefined ? undefined : requestId(startSecrets(deps.startMacs, connection, handle));
  requireLogoutResponse(await signedRoot(deps, connection, sent), contextOf(deps, connection), asked);
  const taking = { handle: handle ?? "", now: deps.clock() };
  const state = await takeLogout(deps.database.query, deps.encryption, connection, taking);
  await redirectTo(visit, loggedOut(visit, connection, state));
}

const loggedOut = ({ organisation }: Visit, { id }: SignInConnection, state?: string): string => {
  const query = state === undefined ? "" : `?${new URLSearchParams({ state })}`;
  return orgPath(organisation, `connections/${id}/logged-out${query}`);
};
