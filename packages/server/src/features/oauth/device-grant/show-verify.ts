/** Shows the pages of device/verify: the code form, the question, the result. */
import type { Application } from "../../../core/applications/application.ts";
import { consentRequestHash } from "../../../core/consents/consent.ts";
import { browserName } from "../../../core/known-browsers/browser-name.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import {
  type BrowserDeps,
  formBinding,
  orgPath,
  pageApplication,
  pageFrame,
  show,
  type Visit,
} from "../authorize/browser.ts";
import { scopeText } from "../authorize/consent/scope-text.ts";
import { type PendingAuthorization, requestedScopes } from "./find-authorization.ts";
import {
  type CodeFailure,
  codePage,
  deviceAdministratorPage,
  deviceDonePage,
  deviceQuestionPage,
} from "./verify.page.ts";

export interface VerifyPage {
  readonly signedIn: SignedIn;
  readonly input: string;
  readonly otherAccountUri: string;
}

export interface CodeFormPage extends VerifyPage {
  readonly error?: CodeFailure;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
}

export async function showCodeForm(
  deps: BrowserDeps,
  visit: Visit,
  { signedIn, input, status = 200, ...shown }: CodeFormPage,
): Promise<void> {
  const frame = pageFrame(visit, undefined, signedIn.user);
  const page = codePage({ ...frame, ...common(deps, visit, signedIn), ...shown, userCode: input });
  return show(visit, frame, page, { status });
}

export async function showDeviceQuestion(
  deps: BrowserDeps,
  visit: Visit,
  { signedIn, otherAccountUri, found }: VerifyPage & { readonly found: PendingAuthorization },
): Promise<void> {
  const frame = pageFrame(visit, undefined, signedIn.user);
  const { authorization } = found;
  const page = deviceQuestionPage({
    ...frame,
    ...request(deps, visit, { signedIn, found }),
    otherAccountUri,
    asked: consentRequestHash(requestedScopes(found)),
    origin: {
      address: authorization.address,
      device: requesterName(authorization.userAgent),
      secondsAgo: Math.max(0, (deps.clock() - authorization.createdAt) / 1000),
    },
  });
  return show(visit, frame, page);
}

export async function showAdministratorConsentRequired(
  deps: BrowserDeps,
  visit: Visit,
  { signedIn, otherAccountUri, found }: VerifyPage & { readonly found: PendingAuthorization },
): Promise<void> {
  const frame = pageFrame(visit, undefined, signedIn.user);
  const view = { ...frame, ...request(deps, visit, { signedIn, found }), otherAccountUri };
  return show(visit, frame, deviceAdministratorPage(view), { status: 403 });
}

function request(
  deps: BrowserDeps,
  visit: Visit,
  { signedIn, found }: { readonly signedIn: SignedIn; readonly found: PendingAuthorization },
) {
  const { authorization, application, userCode, customScopes } = found;
  return {
    ...common(deps, visit, signedIn),
    application: pageApplication(application),
    userCode,
    scopes: authorization.scopes.map((name) => scopeText(name, customScopes)),
  };
}

export async function showDone(
  visit: Visit,
  { decision, application }: { readonly decision: "allow" | "deny"; readonly application: Application },
): Promise<void> {
  const frame = pageFrame(visit);
  const page = deviceDonePage({ ...frame, application: pageApplication(application), decision });
  return show(visit, frame, page);
}

function common(deps: BrowserDeps, visit: Visit, { user }: SignedIn) {
  return {
    action: orgPath(visit.organisation, "device/verify"),
    csrf: formBinding(deps, visit).csrf,
    user: { email: user.email },
  };
}

/** A product with its version, or one word alone: the header is untrusted text. */
const product = /^[A-Za-z][A-Za-z0-9_.-]{0,29}(?:\/v?[0-9][0-9A-Za-z.-]{0,14}(?=$|[ ;(])|$)/;

/** @returns e.g. `Firefox, Windows` or `curl/8.5.0`; undefined when the header names neither browser nor product */
export function requesterName(userAgent: string): string | undefined {
  return browserName(userAgent) ?? product.exec(userAgent)?.[0];
}
