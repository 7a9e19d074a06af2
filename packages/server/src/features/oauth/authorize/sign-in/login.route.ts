/**
 * POST login: the password, or a passkey in its place. The same answer and the same time for an unknown address and a wrong password; guesses are
 * counted before they are looked at.
 */
import type { FastifyInstance } from "fastify";
import type { Organisation } from "../../../../core/organisations/organisation.ts";
import { type PasswordHasher, PasswordQueueFull } from "../../../../core/passwords/password-hasher.ts";
import { rateLimitHeaders } from "../../../../core/rate-limits/rate-limit-headers.ts";
import { RateLimited } from "../../../../core/rate-limits/rate-limits.ts";
import { noteDeviceUse } from "../../../../core/second-factors/trusted-browsers/trusted-browsers.ts";
import { acrValues, type Session } from "../../../../core/sessions/session.ts";
import { signInWithin } from "../../../../core/sessions/sessions.ts";
import {
  checkPassword,
  MAX_PASSWORD_INPUT,
  type RightPassword,
} from "../../../../core/users/check-password.ts";
import type { User } from "../../../../core/users/user.ts";
import { holdPassword } from "../../../../core/users/users.store.ts";
import { formOf, type PageForm } from "../../../../http/form-body.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import { inOrganisation } from "../../../../http/organisation-lookup.ts";
import {
  type BrowserDeps,
  isOwnForm,
  openFlow,
  originOf,
  ownForm,
  type Visit,
  whoIsThere,
} from "../browser.ts";
import { showFactorStepOfPassword } from "../factors/show-factor-step.ts";
import { factorStep } from "../next-step.ts";
import { standingHere } from "../sign-in-situation.ts";
import { goOn, type ReadFlow, type ReadPageFlow, readFlow, refuse, takeStep } from "../take-step.ts";
import { noticeSignIn } from "./notice-sign-in.ts";
import { signInByPasskey } from "./passkey-sign-in.ts";
import { type LoginShown, showLogin } from "./show-login.ts";

export interface LoginDeps extends BrowserDeps {
  readonly passwords: PasswordHasher;
}

export function loginRoute(app: FastifyInstance, deps: LoginDeps): void {
  app.post(
    "/oauth/:org/login",
    ownForm,
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      await processLogin(deps, visit, formOf(visit.request));
      return visit.reply;
    }),
  );
}

async function processLogin(deps: LoginDeps, visit: Visit, form: PageForm): Promise<void> {
  const flow = openFlow(deps, visit, form.values.get("flow"));
  const read = await readFlow(deps, visit, flow);
  if (!read) return;
  const email = (form.values.get("email") ?? "").slice(0, MAX_PASSWORD_INPUT);
  const password = form.values.get("password") ?? "";
  const again = (shown: Pick<LoginShown, "error" | "status" | "retryAfterSeconds">) =>
    showLogin(deps, visit, { flow, request: read.request, email, ...shown });

  if (!isOwnForm(deps, visit, form)) return again({ error: "session-expired", status: 403 });
  try {
    const passkey = form.values.get("passkey") ?? "";
    if (passkey !== "") {
      const failure = await signInByPasskey(deps, visit, passkey, read.request.uiLocales);
      return failure ? again({ error: failure, status: 401 }) : goOn(deps, visit, flow);
    }
    const typed = { orgId: visit.organisation.id, email, password, address: addressOf(visit.request) };
    const outcome = await checkPassword(deps, typed);
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
  deps.activity.count(organisation.id, "sign-ins");
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
