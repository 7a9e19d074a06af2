/** What pages of other features need of the sign-in: who is there, forms that are ours, and signing in to come back. */
import type { LackingProof } from "../../../core/second-factors/fresh-proof.ts";
import { acrValues, type SignedIn } from "../../../core/sessions/session.ts";
import { type BrowserDeps, formBinding, isOwnToken, type Visit, whoIsThere } from "./browser.ts";
import type { OwnPage } from "./flow.ts";
import { type PageWish, pageFlow } from "./page-request.ts";
import { lacksFactorHere } from "./sign-in-situation.ts";
import { readFlow, takeStep } from "./take-step.ts";

export interface PageDoor {
  whoIsThere(visit: Visit): Promise<SignedIn | undefined>;
  /** The same for a page that looks by itself: it keeps no session alive. */
  whoWatches(visit: Visit): Promise<SignedIn | undefined>;
  /** Whether the organisation asks everybody for a second factor, and the session has shown none in this browser. */
  lacksRequiredFactor(visit: Visit, signedIn: SignedIn): Promise<boolean>;
  /** The browser's token, and the form's that is bound to it. */
  formBinding(visit: Visit): { browser: string; csrf: string };
  isOwnForm(visit: Visit, presented: string | undefined): boolean;
  /** Whether the browser says that a page of ours made the request, or says nothing. */
  isFromHere(visit: Visit): boolean;
  /** The seal of a form that waits while its browser signs in again, bound to `subject` in place of the session. */
  keptSeal(visit: Visit, subject: string): string;
  isKeptForm(visit: Visit, subject: string, presented: string | undefined): boolean;
  /** Shows what the sign-in lacks; at its end the browser goes to the page. @param lacking what the page asks for besides */
  signIn(visit: Visit, page: OwnPage, lacking?: LackingProof): Promise<void>;
  /**
   * Who is signed in, proven enough for the page; undefined when what that lacks has been shown.
   * @throws OAuthError where there is nothing to show, or nothing may be shown
   */
  signedInFor(visit: Visit, page: OwnPage, wish: PageWish): Promise<SignedIn | undefined>;
  /** A session under a new cookie. */
  writeSession(visit: Visit, token: string): void;
  /** The remembered browser's cookie. */
  deviceToken(visit: Visit): string | undefined;
}

/** Where a second factor is to be shown, a remembered browser does not spare it: the page would ask again and again. */
const proofs: Readonly<Record<LackingProof, PageWish>> = {
  "fresh-sign-in": { prompt: "login", isConfirmation: true },
  "second-factor": { requiredAcr: acrValues.multiFactor },
};

export function pageDoor(deps: BrowserDeps): PageDoor {
  return {
    whoIsThere: (visit) => whoIsThere(deps, visit),
    whoWatches: (visit) => whoIsThere(deps, visit, { isWatching: true }),
    lacksRequiredFactor: (visit, signedIn) => lacksFactorHere(deps, visit, signedIn),
    formBinding: (visit) => formBinding(deps, visit),
    isOwnForm: (visit, presented) => isOwnToken(deps, visit, presented),
    isFromHere: ({ request }) => deps.csrf.isSameOrigin(request),
    // A browser's token is base64url: no subject with a colon is ever one.
    keptSeal: ({ organisation }, subject) => deps.csrf.token(organisation.id, subject),
    isKeptForm: ({ organisation, request }, subject, presented) =>
      deps.csrf.isOwn(request, organisation.id, subject, presented),
    signIn: async (visit, page, lacking) => {
      const wish = lacking === undefined ? {} : proofs[lacking];
      const flow = pageFlow(visit.organisation.id, page, deps.clock(), wish);
      const read = await readFlow(deps, visit, flow);
      if (read) await takeStep(deps, visit, read);
    },
    signedInFor: async (visit, page, wish) => {
      const flow = pageFlow(visit.organisation.id, page, deps.clock(), wish);
      const read = await readFlow(deps, visit, flow);
      if (read?.step.kind === "signed-in") return read.step.signedIn;
      if (read) await takeStep(deps, visit, read);
      return undefined;
    },
    writeSession: ({ organisation, reply }, token) =>
      deps.cookies.write(reply, organisation.id, token, organisation.settings.sessionLifetimeSeconds),
    deviceToken: ({ organisation, request }) => deps.secondFactors.devices.read(request, organisation.id),
  };
}
