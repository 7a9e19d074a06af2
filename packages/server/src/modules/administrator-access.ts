/** What the doors of administrators need of the rest, for sovereign signing and for devices. */
import type { Organisation } from "../core/organisations/organisation.ts";
import { lackingProof } from "../core/second-factors/fresh-proof.ts";
import type { SignedIn } from "../core/sessions/session.ts";
import type { SystemAccountCaller } from "../core/system-accounts/caller.ts";
import type { Database } from "../db/open.ts";
import { type BrowserDeps, isOwnToken, whoIsThere } from "../features/oauth/authorize/browser.ts";
import { lacksFactorHere } from "../features/oauth/authorize/sign-in-context.ts";
import { administratorDoor } from "../features/system-accounts/hmac-authentication.ts";
import { withIdempotency } from "../features/system-accounts/idempotency.ts";
import type { AdministratorAccess } from "../http/api/administrator-authenticator.ts";
import type { Service } from "./open-service.ts";

export function administratorAccess(
  service: Service,
  browser: BrowserDeps,
): AdministratorAccess<Organisation, SystemAccountCaller, SignedIn, Database> {
  return {
    findOrganisation: service.organisations.find,
    accounts: withIdempotency(service, administratorDoor(service)),
    strictAccounts: withIdempotency(service, administratorDoor(service, { strictOnly: true })),
    browser: {
      whoIsThere: (organisation, request) => whoIsThere(browser, { organisation, request }),
      isOwnForm: (organisation, request, presented) =>
        isOwnToken(browser, { organisation, request }, presented),
      lackingProof: (signedIn) => lackingProof(service.database.query, signedIn, service.clock()),
      lackingHere: async (organisation, request, signedIn) => {
        if (organisation.settings.requireVerifiedEmail && !signedIn.user.emailVerified)
          return "verified-email";
        const lacks = await lacksFactorHere(browser, { organisation, request }, signedIn);
        return lacks ? "second-factor" : undefined;
      },
    },
  };
}
