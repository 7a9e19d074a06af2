/** GET connections/{id}/callback: the browser comes back from the identity provider, once, and the sign-in goes on. */
import type { FastifyInstance } from "fastify";
import { callbackUri } from "../../../core/connections/connection-addresses.ts";
import { isTestState } from "../../../core/connections/sign-in/connection-tests.ts";
import { ConnectionSignInFailure } from "../../../core/connections/sign-in/failure.ts";
import type { SignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";
import type { SignInStart } from "../../../core/connections/sign-in/sign-in-starts.store.ts";
import { NotFound } from "../../../http/errors.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { browserRoute, openFlow, type Visit } from "../authorize/browser.ts";
import type { Flow } from "../authorize/flow.ts";
import { readFlow } from "../authorize/take-step.ts";
import { type ConnectionDeps, enabledConnection, startSecrets } from "./connection-visit.ts";
import { continueReturned } from "./first-sign-in/continue-resolved.ts";
import { linkingUser, linkReturned } from "./link-own-account.ts";
import { showConnectionError } from "./show-connection-error.ts";
import { takeOwnStart } from "./take-own-start.ts";
import { testReturned } from "./test.route.ts";
import type { Upstream } from "./upstream.ts";

export function connectionCallbackRoute(app: FastifyInstance, deps: ConnectionDeps): void {
  app.get("/oauth/:org/connections/:id/callback", browserRoute(deps, callback));
}

async function callback(deps: ConnectionDeps, visit: Visit): Promise<void> {
  const sent = parseQuery(visit.request).values.get("state") ?? "";
  // Before anything of a sign-in: what comes back from a test starts none, also where both go on.
  if (isTestState(sent)) return testReturned(deps, visit, sent);
  const known = await enabledConnection(deps, visit);
  const receive = known?.upstream.receive;
  if (!known || !receive) throw new NotFound("connection");
  const { connection } = known;
  let flow: Flow | undefined;
  try {
    const started = await takeOwnStart(deps, visit, connection, sent);
    flow = openFlow(deps, visit, started.flow);
    await signIn(deps, visit, { connection, receive, started, state: sent, flow });
  } catch (error) {
    if (!(error instanceof ConnectionSignInFailure)) throw error;
    await showConnectionError(deps, visit, { connection, failure: error, flow });
  }
}

interface Return {
  readonly connection: SignInConnection;
  readonly receive: NonNullable<Upstream["receive"]>;
  readonly started: SignInStart;
  readonly state: string;
  readonly flow: Flow;
}

async function signIn(
  deps: ConnectionDeps,
  visit: Visit,
  { connection, receive, started, state, flow }: Return,
): Promise<void> {
  const current = await readFlow(deps, visit, flow);
  if (!current) return;
  const { prompts, maxAgeSeconds } = current.request;
  const userId = linkingUser(flow);
  const address = new URL(callbackUri(deps.baseUrl, connection));
  address.search = new URL(visit.request.url, deps.baseUrl).search;
  const { identity } = await receive(connection, {
    ...startSecrets(deps.startMacs, connection, state),
    ...{ address, maxAgeSeconds },
    authenticatedSince: prompts.includes("login") || userId !== undefined ? started.createdAt : undefined,
  });
  if (userId !== undefined) return linkReturned(deps, visit, userId, { connection, identity });
  await continueReturned(deps, visit, current, { connection, identity });
}
