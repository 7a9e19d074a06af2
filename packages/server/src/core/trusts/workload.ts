/** A workload as a client: GitHub Actions, GitLab, Kubernetes, SPIFFE, and whoever else has an issuer. */
import type { Application } from "../applications/application.ts";
import { isFapi } from "../applications/security-profile.ts";
import { issuerOf } from "../organisations/organisation.ts";
import { type ApplicationIssuerDeps, applicationIssuer } from "../signing-pools/directory.ts";
import type { Expected } from "./verify-trusted.ts";

/** Its identity token says nothing of its type, or that it is a JWT; a JWT-SVID may say JOSE. */
const TYPES = [undefined, "jwt", "jose"];

/** What the identity token of a workload must be, to be this client. */
export const expectedWorkload = async (
  deps: ApplicationIssuerDeps,
  application: Application,
): Promise<Expected> => ({
  orgId: application.orgId,
  kind: "workload",
  clientId: application.id,
  audiences: [issuerOf(deps.baseUrl, application.orgId), await applicationIssuer(deps, application)],
  types: TYPES,
  // FAPI 2.0 SP §5.3.2.1, §5.4: whoever signs for the client.
  ...(isFapi(application.settings) ? { isStrict: true, maxLifetimeSeconds: 3_600 } : {}),
});
