/**
 * POST connections/{id}/saml/acs: what the identity provider says, brought by a browser without its cookie. It is verified and put
 * aside; `finish` goes on with it when the browser has shown whose it is.
 */
import type { FastifyInstance } from "fastify";
import { samlAddresses } from "../../../../core/connections/connection-addresses.ts";
import { serviceKey } from "../../../../core/connections/saml/sp-key.ts";
import { upstreamAcr } from "../../../../core/connections/sign-in/assurance.ts";
import { isTestUnderWay } from "../../../../core/connections/sign-in/connection-tests.store.ts";
import { isTestState } from "../../../../core/connections/sign-in/connection-tests.ts";
import { ConnectionSignInFailure, type FailureReason } from "../../../../core/connections/sign-in/failure.ts";
import { claimedGroupIds } from "../../../../core/connections/sign-in/group-mapping.ts";
import type { UpstreamIdentity } from "../../../../core/connections/sign-in/link-identity.ts";
import { mapClaims } from "../../../../core/connections/sign-in/mapping.ts";
import { effectiveMapping } from "../../../../core/connections/sign-in/presets.ts";
import { parkReturn } from "../../../../core/connections/sign-in/saml-returns.store.ts";
import type { SignInConnection } from "../../../../core/connections/sign-in/sign-in-connections.ts";
import { providerOf } from "../../../../core/connections/sign-in/sign-in-settings.ts";
import { findStart } from "../../../../core/connections/sign-in/sign-in-starts.store.ts";
import { upstreamAuthentication } from "../../../../core/connections/sign-in/upstream-sign-ins.ts";
import { consumeOnce } from "../../../../core/consumed-values.store.ts";
import { countAttempt, networkPrefix } from "../../../../core/rate-limits/rate-limits.ts";
import { NotFound } from "../../../../http/errors.ts";
import { parsedForm } from "../../../../http/form-body.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import { browserRoute, orgPath, redirectTo, type Visit } from "../../authorize/browser.ts";
import type { Flow } from "../../authorize/flow.ts";
import { namedConnection, startSecrets } from "../connection-visit.ts";
import { showConnectionError } from "../show-connection-error.ts";
import { startKey } from "../take-own-start.ts";
import type { UpstreamReturned } from "../upstream.ts";
import { requestId } from "./authn-request.ts";
import type { Expected } from "./expected.ts";
import type { LogoutHint } from "./logout-messages.ts";
import type { SamlDeps } from "./provider-keys.ts";
import type { Assertion } from "./read-assertion.ts";
import { readResponse } from "./read-response.ts";

/** 256 KiB of XML, in base64, in a form. */
export const MAX_FORM_BYTES = 512 * 1024;

export function samlAcsRoute(app: FastifyInstance, deps: SamlDeps): void {
  const options = { bodyLimit: MAX_FORM_BYTES };
  app.post("/oauth/:org/connections/:id/saml/acs", options, browserRoute(deps, consumeResponse));
}

/** What `finish` is given. */
export interface SamlReturn {
  /** Null for one that nobody asked for. */
  readonly state: string | null;
  readonly identity: UpstreamIdentity;
  readonly authenticatedAt: number;
}

/** The same of a test sign-in, which hears of a failure too: who has started it is seen by its cookie. */
export interface SamlTestReturn {
  readonly state: string;
  readonly test: UpstreamReturned | { readonly reason: FailureReason };
}

async function consumeResponse(deps: SamlDeps, visit: Visit): Promise<void> {
  const connection = (await namedConnection(deps, visit))?.connection;
  const { values, repeated } = parsedForm(visit.request);
  const state = values.get("RelayState");
  const isTest = state !== undefined && isTestState(state);
  if (connection?.kind !== "saml" || !(connection.enabled || isTest)) throw new NotFound("connection");
  // One start may be answered again and again, and each answer costs the check of a signature.
  const limit = deps.rateLimits["connection-start-address"];
  const subject = networkPrefix(addressOf(visit.request));
  await countAttempt(deps, connection.orgId, [{ limit, subject }]);
  let flow: Flow | undefined;
  try {
    if (repeated.size > 0) throw new ConnectionSignInFailure("xml-refused", { detail: "a field came twice" });
    const message = Buffer.from(values.get("SAMLResponse") ?? "", "base64");
    if (isTest) return await park(deps, visit, connection, await tested(deps, connection, state, message));
    flow = await startedFlow(deps, connection, state);
    const assertion = await readOnce(deps, connection, state, message);
    await park(deps, visit, connection, samlReturn(connection, assertion, state));
  } catch (error) {
    if (!(error instanceof ConnectionSignInFailure)) throw error;
    await showConnectionError(deps, visit, { connection, failure: error, flow });
  }
}

async function park(
  deps: SamlDeps,
  visit: Visit,
  connection: SignInConnection,
  content: SamlReturn | SamlTestReturn,
): Promise<void> {
  const parked = { content, now: deps.clock() };
  const handle = await parkReturn(deps.database.query, deps.encryption, connection, parked);
  await redirectTo(
    visit,
    `${orgPath(visit.organisation, `connections/${connection.id}/finish`)}?r=${handle}`,
  );
}

/** @throws ConnectionSignInFailure */
async function readOnce(
  deps: SamlDeps,
  connection: SignInConnection,
  state: string | undefined,
  message: Buffer,
): Promise<Assertion> {
  const held = expected(deps, connection, state);
  const assertion = await deps.samlKeys.check(connection, (certificates) =>
    readResponse(message, { ...held, certificates }),
  );
  await requireFirstUse(deps, connection, assertion);
  return assertion;
}

/** @throws ConnectionSignInFailure where there is no such test */
async function tested(
  deps: SamlDeps,
  connection: SignInConnection,
  state: string,
  message: Buffer,
): Promise<SamlTestReturn> {
  if (!(await isTestUnderWay(deps.database.query, startKey(connection, state), deps.clock())))
    throw new ConnectionSignInFailure("state-unknown");
  try {
    const assertion = await readOnce(deps, connection, state, message);
    const { identity } = samlReturn(connection, assertion, state);
    return { state, test: { identity, claims: assertion.claims } };
  } catch (error) {
    if (!(error instanceof ConnectionSignInFailure)) throw error;
    return { state, test: { reason: error.reason } };
  }
}

/**
 * RelayState is the handle of a start, and nothing else: never an address. Whoever has none costs no signature check, unless the
 * connection takes what was not asked for.
 * @throws ConnectionSignInFailure
 */
async function startedFlow(
  deps: SamlDeps,
  connection: SignInConnection,
  state: string | undefined,
): Promise<Flow | undefined> {
  if (state === undefined) {
    if (!providerOf(connection.settings).allowIdpInitiated)
      throw new ConnectionSignInFailure("response-unsolicited", { detail: "RelayState is missing" });
    return undefined;
  }
  const now = deps.clock();
  const started = await findStart(deps.database.query, startKey(connection, state), now);
  if (!started) throw new ConnectionSignInFailure("state-unknown");
  return deps.flows.open(started.flow, connection.orgId, now);
}

function expected(
  deps: SamlDeps,
  connection: SignInConnection,
  state: string | undefined,
): Omit<Expected, "certificates"> {
  const { entityId, subjectAttribute } = providerOf(connection.settings);
  return {
    ...{ entityId, subjectAttribute, ...samlAddresses(deps.baseUrl, connection) },
    requestId: state === undefined ? undefined : requestId(startSecrets(deps.startMacs, connection, state)),
    key: () => serviceKey(deps.encryption, connection),
    now: deps.clock(),
  };
}

/** On every node (Profiles §4.1.4.5). @throws ConnectionSignInFailure */
async function requireFirstUse(
  { database }: SamlDeps,
  { orgId, id: connectionId }: SignInConnection,
  { id, expiresAt }: Assertion,
): Promise<void> {
  const use = { orgId, kind: "saml-assertion", value: `${connectionId}|${id}`, expiresAt };
  if (!(await consumeOnce(database.query, use))) throw new ConnectionSignInFailure("assertion-replayed");
}

function samlReturn(
  { settings }: SignInConnection,
  { subject, claims, nameId, sessionIndex, authenticatedAt }: Assertion,
  state: string | undefined,
): SamlReturn {
  const { assurance, groups, upstreamLogout } = settings;
  const { entityId, sloUrl } = providerOf(settings);
  const isHintKept = nameId !== undefined && upstreamLogout && sloUrl !== null;
  const hint: LogoutHint | undefined = isHintKept ? { nameId, sessionIndex } : undefined;
  const logout = {
    ...(hint ? { logoutHint: JSON.stringify(hint) } : {}),
    ...(nameId ? { nameId: nameId.text } : {}),
  };
  const said = { acr: claims["acr"], sid: sessionIndex, auth_time: Math.floor(authenticatedAt / 1000) };
  const identity: UpstreamIdentity = {
    ...{ subject, user: mapClaims(effectiveMapping(settings), claims), acr: upstreamAcr(assurance, claims) },
    groupIds: claimedGroupIds(groups, claims),
    upstream: upstreamAuthentication(said, entityId, logout),
  };
  return { state: state ?? null, identity, authenticatedAt };
}
