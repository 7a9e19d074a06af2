/** What pages of other features need of the sign-in: the session, CSRF checks, and a sign-in that returns to the page. */
import type { AuthenticationRequirement } from "../../../core/second-factors/factor-status.ts";
import { acrValues, type SignedIn } from "../../../core/sessions/session.ts";
import { portalCookies } from "../../../http/cookies/browser-cookies.ts";
import { undoCookie } from "../../../http/cookies/undo-cookie.ts";
import type { BrowserSessionPort } from "../../../page-kit/page.ts";
import { portalVisit } from "../../../page-kit/portal-visit.ts";
import { type BrowserDeps, currentSession, formBinding, isValidCsrfToken, type Visit } from "./browser.ts";
import type { InternalPage } from "./flow.ts";
import { type PageRequirements, pageFlow } from "./page-request.ts";
import { sendSession } from "./sign-in/start-session.ts";
import { lacksRequiredFactorInBrowser } from "./sign-in-context.ts";
import { readFlow, takeStep } from "./take-step.ts";

/** For pages that an authorization or federation request leads to, too. */
export interface SignInPort extends BrowserSessionPort {
  /**
   * The signed-in user, authenticated as the page requires; undefined when a sign-in step has been shown instead.
   * @throws OAuthError when no step can be shown, or `prompt=none` forbids it
   */
  ensureSignedIn(visit: Visit, page: InternalPage, wish: PageRequirements): Promise<SignedIn | undefined>;
}

/** A trusted browser doesn't satisfy "second-factor": the page would ask for it in a loop. */
const requirements: Readonly<Record<AuthenticationRequirement, PageRequirements>> = {
  "fresh-sign-in": { prompt: "login", isConfirmation: true },
  "second-factor": { requiredAcr: acrValues.multiFactor },
};

export function browserSessionPort(deps: BrowserDeps): SignInPort {
  const readPage = (visit: Visit, page: InternalPage, wish: PageRequirements) =>
    readFlow(deps, visit, pageFlow(visit.organisation.id, page, deps.clock(), wish));
  const portal = portalCookies(deps.baseUrl);
  const undo = undoCookie(deps.baseUrl, deps.secondFactors.seals);
  return {
    currentSession: (visit) => currentSession(deps, visit),
    portalVisit: (visit) => portalVisit(deps, visit, portal.read(visit.request, visit.organisation.id)),
    portalCookie: {
      write: ({ reply, organisation }, token, seconds) =>
        portal.write(reply, organisation.id, token, seconds),
      clear: ({ reply, organisation }) => portal.clear(reply, organisation.id),
    },
    peekSession: (visit) => currentSession(deps, visit, { isBackground: true }),
    lacksRequiredFactor: (visit, signedIn) => lacksRequiredFactorInBrowser(deps, visit, signedIn),
    formBinding: (visit) => formBinding(deps, visit),
    hasValidCsrfToken: (visit, presented) => isValidCsrfToken(deps, visit, presented),
    isSameOrigin: ({ request }) => deps.csrf.isSameOrigin(request),
    // A browser's token is base64url, so no subject with a colon equals one.
    reauthenticationToken: ({ organisation }, subject) => deps.csrf.token(organisation.id, subject),
    isReauthenticationToken: ({ organisation, request }, subject, presented) =>
      deps.csrf.isOwn(request, organisation.id, subject, presented),
    signIn: async (visit, page, missing) => {
      const current = await readPage(visit, page, missing === undefined ? {} : requirements[missing]);
      if (current) await takeStep(deps, visit, current);
    },
    ensureSignedIn: async (visit, page, wish) => {
      const current = await readPage(visit, page, wish);
      if (current?.step.kind === "signed-in") return current.step.signedIn;
      if (current) await takeStep(deps, visit, current);
      return undefined;
    },
    writeSession: (visit, started) => sendSession(deps, visit, started),
    undo: {
      read: ({ organisation, request }, sessionId) =>
        undo.read(request, { orgId: organisation.id, sessionId }),
      write: (visit, sessionId, text, maxAgeSeconds) =>
        void undo.write(visit, { orgId: visit.organisation.id, sessionId }, text, maxAgeSeconds),
      clear: (visit) => undo.clear(visit, { orgId: visit.organisation.id }),
    },
    trustedBrowserToken: ({ organisation, request }) =>
      deps.secondFactors.trustedBrowsers.read(request, organisation.id),
  };
}
