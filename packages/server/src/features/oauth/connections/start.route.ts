/** GET connections/{id}/start: sends the browser to the identity provider, for a sign-in that waits for it. */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { callbackUri } from "../../../core/connections/connection-addresses.ts";
import { ConnectionSignInFailure } from "../../../core/connections/sign-in/failure.ts";
import { insertStart, START_LIFETIME_MS } from "../../../core/connections/sign-in/sign-in-starts.store.ts";
import {
  countAttempt,
  networkPrefix,
  RateLimited,
  rateLimitHeaders,
} from "../../../core/rate-limits/rate-limits.ts";
import { NotFound } from "../../../http/errors.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { browserRoute, formBinding, redirectTo, type Visit } from "../authorize/browser.ts";
import { showLogin } from "../authorize/sign-in/show-login.ts";
import { type CurrentFlow, readSealedFlow, takeStep } from "../authorize/take-step.ts";
import {
  type ConnectionDeps,
  enabledConnection,
  type KnownConnection,
  startSecrets,
} from "./connection-visit.ts";
import { linkingUser, ownerOfLink } from "./link-own-account.ts";
import { showConnectionError } from "./show-connection-error.ts";

export function connectionStartRoute(app: FastifyInstance, deps: ConnectionDeps): void {
  app.get("/oauth/:org/connections/:id/start", browserRoute(deps, start));
}

async function start(deps: ConnectionDeps, visit: Visit): Promise<void> {
  const known = await enabledConnection(deps, visit);
  if (!known) throw new NotFound("connection");
  const current = await readSealedFlow(deps, visit, parseQuery(visit.request).values.get("flow"));
  if (!current) return;
  const { flow, request, step } = current;
  // prompt=none shows nobody else's page either: login_required.
  if (step.kind === "refuse") return takeStep(deps, visit, current);
  const userId = linkingUser(flow);
  if (userId !== undefined && !(await ownerOfLink(deps, visit, userId))) return;
  const subject = networkPrefix(addressOf(visit.request));
  const limit = deps.rateLimits["connection-start-address"];
  try {
    await countAttempt(deps, visit.organisation.id, [{ limit, subject }]);
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    // The page offers the other ways, which are not limited.
    const { retryAfterSeconds } = error;
    visit.reply.headers(rateLimitHeaders(error));
    return showLogin(deps, visit, { flow, request, error: "rate-limited", status: 429, retryAfterSeconds });
  }
  return sendThere(deps, visit, known, current);
}

async function sendThere(
  deps: ConnectionDeps,
  visit: Visit,
  { connection, upstream }: KnownConnection,
  { flow, request }: CurrentFlow,
): Promise<void> {
  const { browser } = formBinding(deps, visit);
  const [state, now] = [randomSecret("sgn_cs_"), deps.clock()];
  try {
    const address = await upstream.begin(connection, {
      ...startSecrets(deps.startMacs, connection, state),
      redirectUri: callbackUri(deps.baseUrl, connection),
      loginHint: request.loginHint,
      // Whose session there it is that is linked: theirs, and now.
      mustReauthenticate: request.prompts.includes("login") || linkingUser(flow) !== undefined,
      maxAgeSeconds: request.maxAgeSeconds,
    });
    await insertStart(deps.database.query, {
      ...{ orgId: connection.orgId, connectionId: connection.id, stateHash: sha256Base64url(state) },
      ...{ browserHash: sha256Base64url(browser), flow: deps.flows.seal(flow) },
      ...{ createdAt: now, expiresAt: now + START_LIFETIME_MS },
    });
    await redirectTo(visit, address);
  } catch (error) {
    if (!(error instanceof ConnectionSignInFailure)) throw error;
    await showConnectionError(deps, visit, { connection, failure: error, flow });
  }
}
