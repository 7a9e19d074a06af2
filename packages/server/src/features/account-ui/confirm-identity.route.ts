/** GET account/confirm-identity: signs in again beside a page that waits with what was typed (page-kit/reauthentication.ts). */
import type { FastifyInstance } from "fastify";
import { identityConfirmedPage } from "../../html/components/act.page.ts";
import { show } from "../../page-kit/page.ts";
import { CONFIRM_IDENTITY } from "./account-form.ts";
import {
  type AccountDeps,
  accountFrame,
  accountPath,
  accountRoute,
  requireRecentChanger,
} from "./account-page.ts";

export function confirmIdentityRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/confirm-identity", {
    get: async (visit) => {
      const path = accountPath(visit.organisation, CONFIRM_IDENTITY);
      const signedIn = await requireRecentChanger(deps, visit, path, { byGuests: true });
      const frame = accountFrame(visit, signedIn.user, undefined);
      await show(visit, frame, identityConfirmedPage(frame));
    },
  });
}
