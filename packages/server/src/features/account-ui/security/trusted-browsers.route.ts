/** account/security/browsers?id=…: removes a trusted browser; without the id all of them. */

import type { FastifyInstance } from "fastify";
import { browserName } from "../../../core/known-browsers/browser-name.ts";
import { forgetTrustedBrowsers } from "../../../core/second-factors/changes.ts";
import { listTrustedBrowsers } from "../../../core/second-factors/trusted-browsers/trusted-browsers.store.ts";
import { NotFound } from "../../../http/errors.ts";
import type { RejectedForm } from "../../../page-kit/accept-form.ts";
import { show } from "../../../page-kit/page.ts";
import { accountRoute, recordPath, requestedId } from "../account-form.ts";
import { type AccountDeps, type AccountVisit, factorChange } from "../account-page.ts";
import { confirmPage } from "../change.page.ts";
import { backToSecurity, changeFrame } from "../change.ts";

export function trustedBrowsersRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/security/browsers", {
    allowsGuests: true,
    returnTo: recordPath,
    show: askToConfirm,
    submit: async (_, visit) => {
      await forgetTrustedBrowsers(deps, factorChange(visit), requestedId(visit));
      await backToSecurity(visit, "devicesForgotten");
    },
  });
}

async function askToConfirm(deps: AccountDeps, visit: AccountVisit, rejected?: RejectedForm): Promise<void> {
  const id = requestedId(visit);
  const browsers = await listTrustedBrowsers(deps.database.query, visit.user, deps.clock());
  const browser = browsers.find((one) => one.id === id);
  if (id !== undefined && !browser) throw new NotFound("trusted browser");
  const frame = changeFrame(deps, visit);
  const text = frame.messages.security.devices;
  const name = browser && (browserName(browser.userAgent) ?? text.unknown);
  const page = confirmPage({
    ...frame,
    heading: name === undefined ? text.forgetAllHeading : text.forgetHeading({ browser: name }),
    text: text.forgetText,
    confirm: name === undefined ? text.forgetAll : text.forget,
    fields: id === undefined ? [] : [{ name: "id", value: id }],
    failure: rejected?.refusal.failure,
  });
  return show(visit, frame, page, rejected?.refusal.status);
}
