/** GET connections/{id}/callback: the browser comes back from the identity provider, once, and the sign-in goes on. */
import { sha256Base64url } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { ConnectionSignInFailure } from "../../../core/connections/sign-in/failure.ts";
import type { SignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";
import {
  isStarted,
  type SignInStart,
  takeStart,
} from "../../../core/connections/sign-in/sign-in-starts.store.ts";
import { NotFound } from "../../../http/errors.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { browserRoute, openFlow, type Visit } from "../authorize/browser.ts";
import type { Flow } from "../authorize/flow.ts";
import { readFlow } from "../authorize/take-step.ts";
import { type ConnectionDeps, callbackUri, enabledConnection, startSecrets } from "./connection-visit.ts";
import { continueReturned } from "./first-sign-in/continue-resolved.ts";
import { linkingUser, linkReturned } from "./link-own-account.ts";
import { showConnectionError } from "./show-connection-error.ts";
import type { Upstream } from "./upstream.ts";

export function connectionCallbackRoute(app: FastifyInstance, deps: ConnectionDeps): void {
  app.get("/oauth/:org/connections/:id/callback", browserRoute(deps, callback));
}

async function callback(deps: ConnectionDeps, visit: Visit): Promise<void> {
  const known = await enabledConnection(deps, visit);
  if (!known) throw new NotFound("connection");
  const { connection, upstream } = known;
  let flow: Flow | undefined;
  try {
    const state = parseQuery(visit.request).values.get("state") ?? "";
    const started = await takeOwnStart(deps, visit, connection, state);
    flow = openFlow(deps, visit, started.flow);
    await signIn(deps, visit, { connection, upstream, started, state, flow });
  } catch (error) {
    if (!(error instanceof ConnectionSignInFailure)) throw error;
    await showConnectionError(deps, visit, { connection, failure: error, flow });
  }
}

/** @throws ConnectionSignInFailure unless this browser was sent there, to this provider, and has not come back yet */
async function takeOwnStart(
  deps: ConnectionDeps,
  { organisation, request }: Visit,
  { orgId, id: connectionId }: SignInConnection,
  state: string,
): Promise<SignInStart> {
  const now = deps.clock();
  const key = { orgId, connectionId, stateHash: sha256Base64url(state) };
  const browser = deps.cookies.read(request, organisation.id);
  const browserHash = browser === undefined ? "" : sha256Base64url(browser);
  const started = await takeStart(deps.database.query, key, { browserHash, now });
  if (started) return started;
  const isAnothers = await isStarted(deps.database.query, key, now);
  throw new ConnectionSignInFailure(isAnothers ? "other-browser" : "state-unknown");
}

interface Return {
  readonly connection: SignInConnection;
  readonly upstream: Upstream;
  readonly started: SignInStart;
  readonly state: string;
  readonly flow: Flow;
}

async function signIn(
  deps: ConnectionDeps,
  visit: Visit,
  { connection, upstream, started, state, flow }: Return,
): Promise<void> {
  const current = await readFlow(deps, visit, flow);
  if (!current) return;
  const { prompts, maxAgeSeconds } = current.request;
  const userId = linkingUser(flow);
  const address = new URL(callbackUri(deps.baseUrl, connection));
  address.search = new URL(visit.request.url, deps.baseUrl).search;
  const identity = await upstream.receive(connection, {
    ...startSecrets(deps.startMacs, connection, state),
    ...{ address, maxAgeSeconds },
    authenticatedSince: prompts.includes("login") || userId !== undefined ? started.createdAt : undefined,
  });
  if (userId !== undefined) return linkReturned(deps, visit, userId, { connection, identity });
  await continueReturned(deps, visit, current, { connection, identity });
}
