/** GET account/confirm-identity: signs in again beside a page that waits with what was typed (page-kit/sent-form.ts). */
import type { FastifyInstance } from "fastify";
import { identityConfirmedPage } from "../../html/components/act.page.ts";
import { show } from "../../page-kit/visit.ts";
import { CONFIRM_IDENTITY } from "./account-form.ts";
import { type AccountDeps, accountFrame, accountPath, accountRoute, mayChange } from "./account-page.ts";

export function confirmIdentityRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, CONFIRM_IDENTITY, {
    get: async (visit) => {
      const path = accountPath(visit.organisation, CONFIRM_IDENTITY);
      const signedIn = await mayChange(deps, visit, path, { byGuests: true });
      if (!signedIn) return;
      const frame = accountFrame(visit, signedIn.user, undefined);
      await show(visit, frame, identityConfirmedPage(frame));
    },
  });
}
