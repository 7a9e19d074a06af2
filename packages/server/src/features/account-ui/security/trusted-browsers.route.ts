/** account/security/browsers?id=…: removes a trusted browser; without the id all of them. */

import type { FastifyInstance } from "fastify";
import { browserName } from "../../../core/known-browsers/browser-name.ts";
import { forgetTrustedBrowsers } from "../../../core/second-factors/changes.ts";
import { listTrustedBrowsers } from "../../../core/second-factors/trusted-browsers/trusted-browsers.store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { NotFound } from "../../../http/errors.ts";
import { parsedForm, parseQuery } from "../../../http/form-body.ts";
import type { Rejection } from "../../../page-kit/accept-form.ts";
import { show, type Visit } from "../../../page-kit/page.ts";
import { acceptAccountForm, askForIdentity } from "../account-form.ts";
import { type AccountDeps, accountRoute, factorChange, requireRecentSignIn } from "../account-page.ts";
import { confirmPage } from "../change.page.ts";
import { backToSecurity, changeFrame, changePath, rejectionTexts } from "../change.ts";

const BROWSERS = "browsers";

export function trustedBrowsersRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/security/browsers", {
    get: async (visit) => {
      const id = parseQuery(visit.request).values.get("id");
      const signedIn = await requireRecentSignIn(deps, visit, browsersPath(visit, id), {
        allowsGuests: true,
      });
      await askToConfirm(deps, visit, signedIn, id);
    },
    post: async (visit) => {
      const id = parsedForm(visit.request).values.get("id");
      const form = await acceptAccountForm(deps, visit, browsersPath(visit, id), { allowsGuests: true });
      if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
      const { signedIn } = form;
      if (form.outcome === "rejected")
        return askToConfirm(deps, visit, signedIn, id, form.refusal.failure?.kind);
      await forgetTrustedBrowsers(deps, factorChange(visit, signedIn), id);
      await backToSecurity(visit, "devicesForgotten");
    },
  });
}

const browsersPath = (visit: Visit, id: string | undefined): string =>
  changePath(visit, id === undefined ? BROWSERS : `${BROWSERS}?id=${encodeURIComponent(id)}`);

async function askToConfirm(
  deps: AccountDeps,
  visit: Visit,
  signedIn: SignedIn,
  id: string | undefined,
  failure?: Rejection,
): Promise<void> {
  const browsers = await listTrustedBrowsers(deps.database.query, signedIn.user, deps.clock());
  const browser = browsers.find((one) => one.id === id);
  if (id !== undefined && !browser) throw new NotFound("trusted browser");
  const frame = changeFrame(deps, visit, signedIn, BROWSERS);
  const text = frame.messages.security.devices;
  const name = browser && (browserName(browser.userAgent) ?? text.unknown);
  const page = confirmPage({
    ...frame,
    heading: name === undefined ? text.forgetAllHeading : text.forgetHeading({ browser: name }),
    text: text.forgetText,
    confirm: name === undefined ? text.forgetAll : text.forget,
    fields: id === undefined ? [] : [{ name: "id", value: id }],
    failure: failure && rejectionTexts(frame)[failure],
  });
  return show(visit, frame, page, failure ? 403 : 200);
}
