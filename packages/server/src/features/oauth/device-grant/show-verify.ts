/** Shows the three pages of device/verify: the code's form, the question, and the end. */
import type { Application } from "../../../core/applications/application.ts";
import { askedMark } from "../../../core/consents/consent.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import {
  type BrowserDeps,
  csrfToken,
  orgPath,
  pageApplication,
  pageFrame,
  pageOrganisation,
  show,
  type Visit,
} from "../authorize/browser.ts";
import { scopeText } from "../authorize/consent/scope-text.ts";
import { deviceName } from "./device-name.ts";
import { askedOf, type WaitingDevice } from "./find-device.ts";
import {
  type CodeFailure,
  codePage,
  deviceAdministratorPage,
  deviceDonePage,
  deviceQuestionPage,
} from "./verify.page.ts";

export interface VerifyShown {
  readonly signedIn: SignedIn;
  readonly typed: string;
  readonly otherAccountUri: string;
}

export interface CodeFormShown extends VerifyShown {
  readonly error?: CodeFailure;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
}

export async function showCodeForm(
  deps: BrowserDeps,
  visit: Visit,
  { signedIn, typed, status = 200, ...shown }: CodeFormShown,
): Promise<void> {
  const frame = pageFrame(visit, undefined, signedIn.user);
  const page = codePage({ ...frame, ...common(deps, visit, signedIn), ...shown, userCode: typed });
  return show(visit, frame, page, { status });
}

export async function showDeviceQuestion(
  deps: BrowserDeps,
  visit: Visit,
  { signedIn, otherAccountUri, found }: VerifyShown & { readonly found: WaitingDevice },
): Promise<void> {
  const frame = pageFrame(visit, undefined, signedIn.user);
  const { device } = found;
  const page = deviceQuestionPage({
    ...frame,
    ...asked(deps, visit, { signedIn, found }),
    otherAccountUri,
    asked: askedMark(askedOf(found)),
    origin: {
      address: device.address,
      device: deviceName(device.userAgent),
      secondsAgo: Math.max(0, (deps.clock() - device.createdAt) / 1000),
    },
  });
  return show(visit, frame, page);
}

export async function showAdministratorFirst(
  deps: BrowserDeps,
  visit: Visit,
  { signedIn, otherAccountUri, found }: VerifyShown & { readonly found: WaitingDevice },
): Promise<void> {
  const frame = pageFrame(visit, undefined, signedIn.user);
  const view = { ...frame, ...asked(deps, visit, { signedIn, found }), otherAccountUri };
  return show(visit, frame, deviceAdministratorPage(view), { status: 403 });
}

function asked(
  deps: BrowserDeps,
  visit: Visit,
  { signedIn, found }: { readonly signedIn: SignedIn; readonly found: WaitingDevice },
) {
  const { device, application, userCode, customScopes } = found;
  return {
    ...common(deps, visit, signedIn),
    application: pageApplication(application),
    userCode,
    scopes: device.scopes.map((name) => scopeText(name, customScopes)),
  };
}

export async function showDone(
  visit: Visit,
  { decision, application }: { readonly decision: "allow" | "deny"; readonly application: Application },
): Promise<void> {
  const frame = pageFrame(visit);
  const organisation = pageOrganisation(visit.organisation);
  const page = deviceDonePage({
    ...frame,
    organisation,
    application: pageApplication(application),
    decision,
  });
  return show(visit, frame, page);
}

function common(deps: BrowserDeps, visit: Visit, { user }: SignedIn) {
  return {
    organisation: pageOrganisation(visit.organisation),
    action: orgPath(visit.organisation, "device/verify"),
    csrf: csrfToken(deps, visit),
    user: { email: user.email },
  };
}
