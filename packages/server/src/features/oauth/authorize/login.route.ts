/**
 * POST login: the password, or a passkey in its place. The same answer and the same time for an unknown address and a wrong password; guesses are
 * counted before they are looked at.
 */
import { type Form, requireSingle } from "@signet/protocol/form";
import type { FastifyInstance } from "fastify";
import { recordAuditEvent } from "../../../core/audit/store.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { type PasswordHasher, PasswordQueueFull } from "../../../core/passwords/password-hasher.ts";
import { networkOf } from "../../../core/rate-limits/network.ts";
import { countAttempt, RateLimited } from "../../../core/rate-limits/rate-limits.ts";
import { noteDeviceUse } from "../../../core/second-factors/remembered-devices/remembered-devices.ts";
import { acrValues, type Session } from "../../../core/sessions/session.ts";
import { signInWithin } from "../../../core/sessions/sessions.ts";
import { findUserByEmail, holdPassword, setPasswordHash } from "../../../core/users/store.ts";
import { emailKey, type User } from "../../../core/users/user.ts";
import { addressOf } from "../../../http/client-address.ts";
import { formOf } from "../../../http/form-body.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import { type BrowserDeps, isOwnForm, openFlow, originOf, type Visit, whoIsThere } from "./browser.ts";
import { factorStep } from "./next-step.ts";
import { noticeSignIn } from "./notice-sign-in.ts";
import { signInByPasskey } from "./passkey-sign-in.ts";
import { rateLimitHeaders } from "./rate-limit-headers.ts";
import { showFactorStepOfPassword } from "./show-factor-step.ts";
import { type LoginShown, showLogin } from "./show-login.ts";
import { standingHere } from "./sign-in-situation.ts";
import { goOn, type ReadFlow, type ReadPageFlow, readFlow, refuse, takeStep } from "./take-step.ts";

export interface LoginDeps extends BrowserDeps {
  readonly passwords: PasswordHasher;
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
    const passkey = form.values.get("passkey") ?? "";
    if (passkey !== "") {
      const failure = await signInByPasskey(deps, visit, passkey, read.request.uiLocales);
      return failure ? again({ error: failure, status: 401 }) : goOn(deps, visit, flow);
    }
    const outcome = await checkPassword(deps, visit, email, password);
    if (typeof outcome === "string") return again({ error: outcome, status: 401 });
    return await withRightPassword(deps, visit, read, outcome);
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
}

/** A session, unless a second factor is due: then there is none before it is shown. */
async function withRightPassword(
  deps: LoginDeps,
  visit: Visit,
  read: ReadFlow | ReadPageFlow,
  { user, passwordChangedAt }: RightPassword,
): Promise<void> {
  const { organisation, request } = visit;
  const { flow } = read;
  const now = deps.clock();
  const factors = await standingHere(deps, visit, read.request, user);
  const signedIn = { session: unstarted(user, now), user };
  const step = factorStep({ request: read.request, now, factors }, signedIn);
  if (step?.kind === "refuse") return refuse(deps, visit, read, step.error);
  if (step?.kind === "second-factor" || step?.kind === "enrolment") {
    return showFactorStepOfPassword(deps, visit, { flow, request: read.request, step }, passwordChangedAt);
  }
  const before = await whoIsThere(deps, visit);
  const { amr, acr } = signedIn.session;
  const from = originOf(visit, read.request.uiLocales);
  const started = await deps.database.transaction(async (tx) => {
    if (!(await holdPassword(tx, user, passwordChangedAt))) return undefined;
    await noticeSignIn(deps, tx, visit, user, from);
    return signInWithin(tx, { organisation, user, amr, acr, ...from, before }, now);
  });
  if (!started) return takeStep(deps, visit, read);
  if (factors.isRemembered) {
    const device = deps.secondFactors.devices.read(request, organisation.id);
    await noteDeviceUse(deps.database.query, user, device, now);
  }
  deps.cookies.write(
    visit.reply,
    organisation.id,
    started.token,
    organisation.settings.sessionLifetimeSeconds,
  );
  return goOn(deps, visit, flow);
}

/** The session that the password alone would start: what the next step is decided by. */
function unstarted({ id: userId, orgId }: User, now: number): Session {
  const times = { authTime: now, createdAt: now, lastSeenAt: now, expiresAt: now };
  return { orgId, id: "", userId, amr: ["pwd"], acr: acrValues.password, ...times };
}

interface RightPassword {
  readonly user: User;
  readonly passwordChangedAt: number | null;
}

async function checkPassword(
  deps: LoginDeps,
  { organisation, request }: Visit,
  email: string,
  password: string,
): Promise<RightPassword | "invalid-credentials" | "disabled"> {
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
  return found;
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
