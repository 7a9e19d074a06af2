/** GET connections/{id}/finish: the browser that brought a SAML response shows whose it is, once, and the sign-in goes on. */
import type { FastifyInstance } from "fastify";
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";
import { takeReturn } from "../../../../core/connections/sign-in/saml-returns.store.ts";
import type { SignInConnection } from "../../../../core/connections/sign-in/sign-in-connections.ts";
import { NotFound } from "../../../../http/errors.ts";
import { parseQuery } from "../../../../http/form-body.ts";
import { browserRoute, openFlow, type Visit } from "../../authorize/browser.ts";
import type { Flow } from "../../authorize/flow.ts";
import { readFlow } from "../../authorize/take-step.ts";
import { accountFlow, type ConnectionDeps, namedConnection } from "../connection-visit.ts";
import { continueReturned } from "../first-sign-in/continue-resolved.ts";
import { linkingUser, linkReturned } from "../link-own-account.ts";
import { showConnectionError } from "../show-connection-error.ts";
import { takeOwnStart } from "../take-own-start.ts";
import { testReturned } from "../test.route.ts";
import type { UpstreamReturned } from "../upstream.ts";
import type { SamlReturn, SamlTestReturn } from "./acs.route.ts";
import { TOLERANCE_MS } from "./read-assertion.ts";

export function samlFinishRoute(app: FastifyInstance, deps: ConnectionDeps): void {
  app.get("/oauth/:org/connections/:id/finish", browserRoute(deps, finish));
}

async function finish(deps: ConnectionDeps, visit: Visit): Promise<void> {
  const connection = (await namedConnection(deps, visit))?.connection;
  if (connection?.kind !== "saml") throw new NotFound("connection");
  let flow: Flow | undefined;
  try {
    const back = await takeOwnReturn(deps, visit, connection);
    // Before anything of a sign-in: what comes back from a test starts none, and may be of a connection that is disabled.
    if ("test" in back) return await testReturned(deps, visit, back.state, async () => testedIdentity(back));
    if (!connection.enabled) throw new NotFound("connection");
    const started = back.state === null ? undefined : await takeOwnStart(deps, visit, connection, back.state);
    flow = started ? openFlow(deps, visit, started.flow) : accountFlow(deps, visit);
    const current = await readFlow(deps, visit, flow);
    if (!current) return;
    const userId = linkingUser(flow);
    const mustBeNew = current.request.prompts.includes("login") || userId !== undefined;
    const since = mustBeNew ? started?.createdAt : undefined;
    requireFresh(back, { since, maxAgeSeconds: current.request.maxAgeSeconds, now: deps.clock() });
    if (userId !== undefined)
      return await linkReturned(deps, visit, userId, { connection, identity: back.identity });
    await continueReturned(deps, visit, current, { connection, identity: back.identity });
  } catch (error) {
    if (!(error instanceof ConnectionSignInFailure)) throw error;
    await showConnectionError(deps, visit, { connection, failure: error, flow });
  }
}

/** @throws ConnectionSignInFailure */
async function takeOwnReturn(
  deps: ConnectionDeps,
  visit: Visit,
  connection: SignInConnection,
): Promise<SamlReturn | SamlTestReturn> {
  const handle = parseQuery(visit.request).values.get("r") ?? "";
  const taking = { handle, now: deps.clock() };
  const back = await takeReturn(deps.database.query, deps.encryption, connection, taking);
  if (back === undefined) throw new ConnectionSignInFailure("state-unknown");
  return back as SamlReturn | SamlTestReturn;
}

/** @throws ConnectionSignInFailure */
function testedIdentity({ test }: SamlTestReturn): UpstreamReturned {
  if ("reason" in test) throw new ConnectionSignInFailure(test.reason);
  return test;
}

/** What ForceAuthn has asked for is so (Core §3.4.1). @throws ConnectionSignInFailure */
function requireFresh(
  { authenticatedAt, identity: { subject } }: SamlReturn,
  asked: {
    readonly since: number | undefined;
    readonly maxAgeSeconds: number | undefined;
    readonly now: number;
  },
): void {
  const { since, maxAgeSeconds, now } = asked;
  const oldest = [since, maxAgeSeconds === undefined ? undefined : now - maxAgeSeconds * 1000];
  if (oldest.some((time) => time !== undefined && authenticatedAt + TOLERANCE_MS < time))
    throw new ConnectionSignInFailure("stale-authentication", { subject });
}
