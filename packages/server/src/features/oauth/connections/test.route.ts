/**
 * GET connections/{id}/test: sends an administrator's browser to the identity provider for a test (connections.md §1), which comes
 * back as from a sign-in, with a `state` of its own. No session, account, link or membership comes of it.
 */
import { sha256Base64url } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { callbackUri } from "../../../core/connections/connection-addresses.ts";
import {
  type ConnectionTest,
  openConnectionTest,
  takeConnectionTest,
} from "../../../core/connections/sign-in/connection-tests.store.ts";
import {
  boundedClaims,
  endConnectionTest,
  newTestState,
} from "../../../core/connections/sign-in/connection-tests.ts";
import { foreseeAccount } from "../../../core/connections/sign-in/decide-account.ts";
import { ConnectionSignInFailure, failureStatus } from "../../../core/connections/sign-in/failure.ts";
import {
  countAttempt,
  networkPrefix,
  RateLimited,
  rateLimitHeaders,
} from "../../../core/rate-limits/rate-limits.ts";
import { NotFound } from "../../../http/errors.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import {
  browserRoute,
  currentSession,
  formBinding,
  pageFrame,
  redirectTo,
  show,
  type Visit,
} from "../authorize/browser.ts";
import { type ConnectionTestEnd, connectionTestPage } from "./connection-test.page.ts";
import {
  type ConnectionDeps,
  type KnownConnection,
  namedConnection,
  startSecrets,
} from "./connection-visit.ts";
import type { UpstreamReturned } from "./upstream.ts";

export function connectionTestRoute(app: FastifyInstance, deps: ConnectionDeps): void {
  app.get("/oauth/:org/connections/:id/test", browserRoute(deps, openTest));
}

/** Opening the link is once: whoever finds it in a history opens nothing. */
async function openTest(deps: ConnectionDeps, visit: Visit): Promise<void> {
  const known = await namedConnection(deps, visit);
  if (!known) throw new NotFound("connection");
  const { id: orgId } = visit.organisation;
  const subject = networkPrefix(addressOf(visit.request));
  const limit = deps.rateLimits["connection-start-address"];
  try {
    await countAttempt(deps, orgId, [{ limit, subject }]);
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    visit.reply.headers(rateLimitHeaders(error));
    return showEnd(deps, visit, known, "rate-limited");
  }
  const [state, now] = [newTestState(), deps.clock()];
  const { browser } = formBinding(deps, visit);
  const link = parseQuery(visit.request).values.get("link") ?? "";
  const test = await openConnectionTest(
    deps.database.query,
    { orgId, connectionId: known.connection.id, linkHash: sha256Base64url(link) },
    { stateHash: sha256Base64url(state), browserHash: sha256Base64url(browser), now },
  );
  if (!test) return showEnd(deps, visit, known, "expired");
  await orFail(deps, visit, known, test, async () => {
    const address = await known.upstream.begin(known.connection, {
      ...startSecrets(deps.startMacs, known.connection, state),
      redirectUri: callbackUri(deps.baseUrl, known.connection),
      ...{ loginHint: undefined, mustReauthenticate: false, maxAgeSeconds: undefined },
    });
    return redirectTo(visit, address);
  });
}

/** @throws ConnectionSignInFailure */
type ReadReturned = (known: KnownConnection) => Promise<UpstreamReturned>;

/**
 * The browser has come back with the `state` of a test, of this connection or not.
 * @param read of a provider that answers elsewhere than at the callback
 */
export async function testReturned(
  deps: ConnectionDeps,
  visit: Visit,
  state: string,
  read: ReadReturned = (known) => receive(deps, visit, known, state),
): Promise<void> {
  const known = await namedConnection(deps, visit);
  if (!known) throw new NotFound("connection");
  const { organisation, request } = visit;
  const browser = deps.cookies.read(request, organisation.id);
  const test = await takeConnectionTest(
    deps.database.query,
    {
      ...{ orgId: organisation.id, connectionId: known.connection.id },
      stateHash: sha256Base64url(state),
    },
    { browserHash: browser === undefined ? "" : sha256Base64url(browser), now: deps.clock() },
  );
  if (!test) return showEnd(deps, visit, known, "expired");
  await orFail(deps, visit, known, test, async () =>
    recordResult(deps, visit, known, { test, returned: await read(known) }),
  );
}

/** At the callback. @throws ConnectionSignInFailure */
async function receive(
  deps: ConnectionDeps,
  visit: Visit,
  { connection, upstream }: KnownConnection,
  state: string,
): Promise<UpstreamReturned> {
  if (!upstream.receive) throw new NotFound("connection");
  const address = new URL(callbackUri(deps.baseUrl, connection));
  address.search = new URL(visit.request.url, deps.baseUrl).search;
  return upstream.receive(connection, {
    ...startSecrets(deps.startMacs, connection, state),
    ...{ address, maxAgeSeconds: undefined, authenticatedSince: undefined },
  });
}

async function recordResult(
  deps: ConnectionDeps,
  visit: Visit,
  known: KnownConnection,
  { test, returned }: { readonly test: ConnectionTest; readonly returned: UpstreamReturned },
): Promise<void> {
  const { connection } = known;
  const { identity, claims } = returned;
  const { reason, ...account } = await foreseeAccount(
    deps.database.query,
    { connection, identity },
    deps.outbox.isOpen,
  );
  const mapped = { ...identity.user, groups: identity.groupIds ?? [] };
  const result = { ...boundedClaims(claims), mapped, account };
  await endConnectionTest(deps, test, { reason, result, address: addressOf(visit.request) });
  return showEnd(deps, visit, known, "done", test);
}

async function orFail(
  deps: ConnectionDeps,
  visit: Visit,
  known: KnownConnection,
  test: ConnectionTest,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ConnectionSignInFailure)) throw error;
    const { reason } = error;
    await endConnectionTest(deps, test, { reason, address: addressOf(visit.request) });
    await showEnd(deps, visit, known, reason, test);
  }
}

async function showEnd(
  deps: ConnectionDeps,
  visit: Visit,
  { connection }: KnownConnection,
  end: ConnectionTestEnd,
  test?: ConnectionTest,
): Promise<void> {
  const frame = pageFrame(visit);
  const resultUri = test && (await consoleResult(deps, visit, test));
  const page = connectionTestPage({ ...frame, connection: { name: connection.name }, end, resultUri });
  return show(visit, frame, page, { status: statusOf(end) });
}

/** The way back for who has started it in the console of this browser; whoever else opened the link has nothing there. */
async function consoleResult(
  deps: ConnectionDeps,
  visit: Visit,
  { orgId, connectionId, id }: ConnectionTest,
): Promise<string | undefined> {
  const signedIn = await currentSession(deps, visit);
  if (signedIn?.user.role !== "Administrator") return undefined;
  return `/oauth/manage/${orgId}/connections/${connectionId}/tests/${id}`;
}

function statusOf(end: ConnectionTestEnd): number {
  if (end === "done") return 200;
  if (end === "expired") return 400;
  return end === "rate-limited" ? 429 : failureStatus(end);
}
