/** account/security/browsers?id=…: a remembered browser is forgotten; without the id all of them are. */

import type { FastifyInstance } from "fastify";
import { show, type Visit } from "../../console/visit.ts";
import { browserName } from "../../core/known-browsers/browser-name.ts";
import { forgetDevices } from "../../core/second-factors/changes.ts";
import { listRememberedDevices } from "../../core/second-factors/remembered-devices/store.ts";
import type { SignedIn } from "../../core/sessions/session.ts";
import { NotFound } from "../../http/errors.ts";
import { formOf, queryOf } from "../../http/form-body.ts";
import { type AccountDeps, accountRoute, changeOf, mayChange } from "./account-page.ts";
import { confirmPage } from "./change.page.ts";
import { backWith, changeFrame, changePath, expired } from "./change.ts";

const BROWSERS = "browsers";

export function rememberedBrowsersRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, `security/${BROWSERS}`, {
    get: async (visit) => {
      const id = queryOf(visit.request).values.get("id");
      const signedIn = await mayForget(deps, visit, id);
      if (signedIn) await ask(deps, visit, signedIn, id);
    },
    post: async (visit) => {
      const { values } = formOf(visit.request);
      const id = values.get("id");
      const signedIn = await mayForget(deps, visit, id);
      if (!signedIn) return;
      if (!deps.door.isOwnForm(visit, values.get("csrf"))) return ask(deps, visit, signedIn, id, true);
      await forgetDevices(deps, changeOf(visit, signedIn), id);
      await backWith(visit, "devicesForgotten");
    },
  });
}

function mayForget(deps: AccountDeps, visit: Visit, id: string | undefined): Promise<SignedIn | undefined> {
  const query = id === undefined ? "" : `?id=${encodeURIComponent(id)}`;
  return mayChange(deps, visit, changePath(visit, BROWSERS + query), { ofAccount: false });
}

async function ask(
  deps: AccountDeps,
  visit: Visit,
  signedIn: SignedIn,
  id: string | undefined,
  isExpired = false,
): Promise<void> {
  const devices = await listRememberedDevices(deps.database.query, signedIn.user, deps.clock());
  const device = devices.find((one) => one.id === id);
  if (id !== undefined && !device) throw new NotFound("remembered browser");
  const frame = changeFrame(deps, visit, signedIn, BROWSERS);
  const text = frame.messages.security.devices;
  const name = device && (browserName(device.userAgent) ?? text.unknown);
  const page = confirmPage({
    ...frame,
    heading: name === undefined ? text.forgetAllHeading : text.forgetHeading(name),
    text: text.forgetText,
    confirm: name === undefined ? text.forgetAll : text.forget,
    fields: id === undefined ? [] : [{ name: "id", value: id }],
    ...(isExpired ? { failure: expired(frame) } : {}),
  });
  return show(visit, frame, page, isExpired ? 403 : 200);
}
