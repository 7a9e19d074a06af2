/**
 * POST login: the password. The same answer and the same time for an unknown address and a wrong password; guesses are
 * counted before they are looked at.
 */
import { type Form, requireSingle } from "@signet/protocol/form";
import type { FastifyInstance } from "fastify";
import { recordAuditEvent } from "../../../core/audit/store.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { type PasswordHasher, PasswordQueueFull } from "../../../core/passwords/password-hasher.ts";
import { networkOf } from "../../../core/rate-limits/network.ts";
import { countAttempt, RateLimited, type RateLimits } from "../../../core/rate-limits/rate-limits.ts";
import { acrValues } from "../../../core/sessions/session.ts";
import { signIn } from "../../../core/sessions/sessions.ts";
import { findUserByEmail, setPasswordHash } from "../../../core/users/store.ts";
import { emailKey, type User } from "../../../core/users/user.ts";
import { addressOf } from "../../../http/client-address.ts";
import { formOf } from "../../../http/form-body.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import { type BrowserDeps, isOwnForm, openFlow, orgPath, type Visit, whoIsThere } from "./browser.ts";
import { type LoginShown, readFlow, showLogin } from "./take-step.ts";

export interface LoginDeps extends BrowserDeps {
  readonly passwords: PasswordHasher;
  readonly rateLimits: RateLimits;
}

/** Longer input is nobody's password: it is not hashed. */
const MAX_INPUT = 1_024;

export function loginRoute(app: FastifyInstance, deps: LoginDeps): void {
  app.post(
    "/oauth/:org/login",
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      await processLogin(deps, visit, formOf(visit.request));
      return visit.reply;
    }),
  );
}

async function processLogin(deps: LoginDeps, visit: Visit, form: Form): Promise<void> {
  requireSingle(form);
  const flow = openFlow(deps, visit, form.values.get("flow"));
  const read = await readFlow(deps, visit, flow);
  if (!read) return;
  const email = (form.values.get("email") ?? "").slice(0, MAX_INPUT);
  const password = form.values.get("password") ?? "";
  const again = (shown: Pick<LoginShown, "error" | "status" | "retryAfterSeconds">) =>
    showLogin(deps, visit, { flow, request: read.request, email, ...shown });

  if (!isOwnForm(deps, visit, form.values.get("csrf")))
    return again({ error: "session-expired", status: 403 });
  try {
    const outcome = await checkPassword(deps, visit, email, password);
    if (typeof outcome === "string") return again({ error: outcome, status: 401 });
    const signedIn = await signIn(deps, {
      organisation: visit.organisation,
      ...outcome,
      amr: ["pwd"],
      acr: acrValues.password,
      address: addressOf(visit.request),
      userAgent: visit.request.headers["user-agent"] ?? "",
      before: await whoIsThere(deps, visit),
    });
    // Another password since it was checked: as if this one had come a moment later.
    if (!signedIn) return again({ error: "invalid-credentials", status: 401 });
    const { sessionLifetimeSeconds } = visit.organisation.settings;
    deps.cookies.write(visit.reply, visit.organisation.id, signedIn.token, sessionLifetimeSeconds);
  } catch (error) {
    if (error instanceof RateLimited) {
      const { retryAfterSeconds } = error;
      visit.reply.headers(rateLimitHeaders(error));
      return again({ error: "rate-limited", status: 429, retryAfterSeconds });
    }
    if (error instanceof PasswordQueueFull) {
      return again({ error: "busy", status: 503, retryAfterSeconds: error.retryAfterSeconds });
    }
    throw error;
  }
  // What comes next is decided with the new session, on a request of its own that can be reloaded.
  await visit.reply
    .header("cache-control", "no-store")
    .redirect(`${orgPath(visit.organisation, "authorize")}?flow=${deps.flows.seal(flow)}`, 303);
}

type Checked = { readonly user: User; readonly passwordChangedAt: number | null };

async function checkPassword(
  deps: LoginDeps,
  { organisation, request }: Visit,
  email: string,
  password: string,
): Promise<Checked | "invalid-credentials" | "disabled"> {
  const orgId = organisation.id;
  const key = emailKey(email);
  const address = networkOf(addressOf(request));
  const attempt = await countAttempt(deps, orgId, [
    // The network first: once it is refused, the addresses that it invents leave no rows.
    { limit: deps.rateLimits["password-address"], subject: address },
    { limit: deps.rateLimits["password-account"], subject: `${key}|${address}` },
  ]);
  const found = await findUserByEmail(deps.database.query, orgId, key);
  const stored = password.length <= MAX_INPUT ? (found?.passwordHash ?? undefined) : undefined;
  let matches: boolean;
  try {
    matches = await deps.passwords.verify(stored, password.slice(0, MAX_INPUT));
  } catch (error) {
    // Not looked at: it was no guess.
    await attempt.giveBack();
    throw error;
  }
  if (!found || !stored || !matches) {
    await recordFailure(deps, orgId, addressOf(request), found?.user, "wrong password");
    return "invalid-credentials";
  }
  await attempt.giveBack();
  if (found.user.disabledAt !== null) {
    await recordFailure(deps, orgId, addressOf(request), found.user, "account disabled");
    return "disabled";
  }
  await renewHash(deps, found.user, stored, password);
  return { user: found.user, passwordChangedAt: found.passwordChangedAt };
}

/** Today's parameters for a password whose hash was made with weaker ones. */
async function renewHash(deps: LoginDeps, user: User, stored: string, password: string): Promise<void> {
  if (!deps.passwords.needsRehash(stored)) return;
  try {
    const hash = await deps.passwords.hash(password);
    const owner = { orgId: user.homeOrgId, id: user.id };
    await setPasswordHash(deps.database.query, owner, { hash, now: deps.clock(), replaces: stored });
  } catch (error) {
    // There is no place in the queue now; the next sign-in renews it, and this one need not fail.
    if (!(error instanceof PasswordQueueFull)) throw error;
  }
}

async function recordFailure(
  deps: LoginDeps,
  orgId: string,
  address: string,
  user: User | undefined,
  reason: string,
): Promise<void> {
  await recordAuditEvent(deps.database.query, {
    orgId,
    at: deps.clock(),
    actor: "anonymous",
    action: "sign-in.failed",
    address,
    details: { reason: user ? reason : "unknown account" },
    ...(user ? { target: user.id } : {}),
  });
}

function rateLimitHeaders({ limit, retryAfterSeconds }: RateLimited): Record<string, string> {
  return {
    "ratelimit-policy": `"${limit.name}";q=${limit.count};w=${limit.windowSeconds}`,
    ratelimit: `"${limit.name}";r=0;t=${retryAfterSeconds}`,
  };
}
