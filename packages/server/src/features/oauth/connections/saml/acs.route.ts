/**
 * POST connections/{id}/saml/acs: what the identity provider says, brought by a browser without its cookie. It is verified and put
 * aside; `finish` goes on with it when the browser has shown whose it is.
 */
import type { FastifyInstance } from "fastify";
import { samlAddresses } from "../../../../core/connections/connection-addresses.ts";
import { serviceKey } from "../../../../core/connections/saml/sp-key.ts";
import { upstreamAcr } from "../../../../core/connections/sign-in/assurance.ts";
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";
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
import { type ConnectionDeps, enabledConnection, startSecrets } from "../connection-visit.ts";
import { showConnectionError } from "../show-connection-error.ts";
import { startKey } from "../take-own-start.ts";
import { requestId } from "./authn-request.ts";
import type { Expected } from "./expected.ts";
import type { Assertion } from "./read-assertion.ts";
import { readResponse } from "./read-response.ts";

/** 256 KiB of XML, in base64, in a form. */
const MAX_FORM_BYTES = 512 * 1024;

export function samlAcsRoute(app: FastifyInstance, deps: ConnectionDeps): void {
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

async function consumeResponse(deps: ConnectionDeps, visit: Visit): Promise<void> {
  const known = await enabledConnection(deps, visit);
  if (known?.connection.kind !== "saml") throw new NotFound("connection");
  const { connection } = known;
  // One start may be answered again and again, and each answer costs the check of a signature.
  const limit = deps.rateLimits["connection-start-address"];
  const subject = networkPrefix(addressOf(visit.request));
  await countAttempt(deps, connection.orgId, [{ limit, subject }]);
  let flow: Flow | undefined;
  try {
    const { values, repeated } = parsedForm(visit.request);
    if (repeated.size > 0) throw new ConnectionSignInFailure("xml-refused", { detail: "a field came twice" });
    const state = values.get("RelayState");
    flow = await startedFlow(deps, connection, state);
    const message = Buffer.from(values.get("SAMLResponse") ?? "", "base64");
    const assertion = await readResponse(message, expected(deps, connection, state));
    await requireFirstUse(deps, connection, assertion);
    const now = deps.clock();
    const content = samlReturn(connection, assertion, state);
    const handle = await parkReturn(deps.database.query, deps.encryption, connection, { content, now });
    const path = orgPath(visit.organisation, `connections/${connection.id}/finish`);
    await redirectTo(visit, `${path}?r=${handle}`);
  } catch (error) {
    if (!(error instanceof ConnectionSignInFailure)) throw error;
    await showConnectionError(deps, visit, { connection, failure: error, flow });
  }
}

/**
 * RelayState is the handle of a start, and nothing else: never an address. Whoever has none costs no signature check, unless the
 * connection takes what was not asked for.
 * @throws ConnectionSignInFailure
 */
async function startedFlow(
  deps: ConnectionDeps,
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

function expected(deps: ConnectionDeps, connection: SignInConnection, state: string | undefined): Expected {
  const { entityId, certificates, subjectAttribute } = providerOf(connection.settings);
  return {
    ...{ entityId, certificates, subjectAttribute, ...samlAddresses(deps.baseUrl, connection) },
    requestId: state === undefined ? undefined : requestId(startSecrets(deps.startMacs, connection, state)),
    key: () => serviceKey(deps.encryption, connection),
    now: deps.clock(),
  };
}

/** On every node (Profiles §4.1.4.5). @throws ConnectionSignInFailure */
async function requireFirstUse(
  { database }: ConnectionDeps,
  { orgId, id: connectionId }: SignInConnection,
  { id, expiresAt }: Assertion,
): Promise<void> {
  const use = { orgId, kind: "saml-assertion", value: `${connectionId}|${id}`, expiresAt };
  if (!(await consumeOnce(database.query, use))) throw new ConnectionSignInFailure("assertion-replayed");
}

function samlReturn(
  { settings }: SignInConnection,
  { subject, claims, sessionIndex, authenticatedAt }: Assertion,
  state: string | undefined,
): SamlReturn {
  const { assurance, groups } = settings;
  const said = { acr: claims["acr"], sid: sessionIndex, auth_time: Math.floor(authenticatedAt / 1000) };
  const identity: UpstreamIdentity = {
    ...{ subject, user: mapClaims(effectiveMapping(settings), claims), acr: upstreamAcr(assurance, claims) },
    groupIds: claimedGroupIds(groups, claims),
    upstream: upstreamAuthentication(said, providerOf(settings).entityId),
  };
  return { state: state ?? null, identity, authenticatedAt };
}
