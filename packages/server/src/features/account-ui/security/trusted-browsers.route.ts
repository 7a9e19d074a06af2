/** account/security/browsers?id=…: a remembered browser is forgotten; without the id all of them are. */

import type { FastifyInstance } from "fastify";
import { browserName } from "../../../core/known-browsers/browser-name.ts";
import { forgetDevices } from "../../../core/second-factors/changes.ts";
import { listRememberedDevices } from "../../../core/second-factors/trusted-browsers/trusted-browsers.store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { NotFound } from "../../../http/errors.ts";
import { formOf, queryOf } from "../../../http/form-body.ts";
import type { Rejection } from "../../../page-kit/accept-form.ts";
import { show, type Visit } from "../../../page-kit/page.ts";
import { acceptAccountForm, askForIdentity } from "../account-form.ts";
import { type AccountDeps, accountRoute, changeOf, requireRecentChanger } from "../account-page.ts";
import { confirmPage } from "../change.page.ts";
import { backWith, changeFrame, changePath, notTakenTexts } from "../change.ts";

const BROWSERS = "browsers";

export function rememberedBrowsersRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/security/browsers", {
    get: async (visit) => {
      const id = queryOf(visit.request).values.get("id");
      const signedIn = await requireRecentChanger(deps, visit, pathOf(visit, id), { byGuests: true });
      await ask(deps, visit, signedIn, id);
    },
    post: async (visit) => {
      const id = formOf(visit.request).values.get("id");
      const form = await acceptAccountForm(deps, visit, pathOf(visit, id), { byGuests: true });
      if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
      const { signedIn } = form;
      if (form.outcome === "rejected") return ask(deps, visit, signedIn, id, form.refusal.failure?.kind);
      await forgetDevices(deps, changeOf(visit, signedIn), id);
      await backWith(visit, "devicesForgotten");
    },
  });
}

const pathOf = (visit: Visit, id: string | undefined): string =>
  changePath(visit, id === undefined ? BROWSERS : `${BROWSERS}?id=${encodeURIComponent(id)}`);

async function ask(
  deps: AccountDeps,
  visit: Visit,
  signedIn: SignedIn,
  id: string | undefined,
  failure?: Rejection,
): Promise<void> {
  const devices = await listRememberedDevices(deps.database.query, signedIn.user, deps.clock());
  const device = devices.find((one) => one.id === id);
  if (id !== undefined && !device) throw new NotFound("remembered browser");
  const frame = changeFrame(deps, visit, signedIn, BROWSERS);
  const text = frame.messages.security.devices;
  const name = device && (browserName(device.userAgent) ?? text.unknown);
  const page = confirmPage({
    ...frame,
    heading: name === undefined ? text.forgetAllHeading : text.forgetHeading({ browser: name }),
    text: text.forgetText,
    confirm: name === undefined ? text.forgetAll : text.forget,
    fields: id === undefined ? [] : [{ name: "id", value: id }],
    failure: failure && notTakenTexts(frame)[failure],
  });
  return show(visit, frame, page, failure ? 403 : 200);
}
