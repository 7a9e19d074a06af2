/**
 * JWT bearer grant (RFC 7523 §2.1), of two kinds, told apart by the assertion's `typ`: a workload is the client itself
 * (modern-oauth.md §5, "Use"), an identity assertion stands for a user (ID-JAG).
 */
import type { Form } from "@signet/protocol/form";
import { sha256Base64url } from "@signet/protocol/hash";
import { decodeJwsUnverified } from "@signet/protocol/jose/jws";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { jwtBearerGrantType } from "../../../../core/applications/application.ts";
import { releaseTokens } from "../../../../core/tokens/signer.ts";
import {
  consumeTrusted,
  type TrustedToken,
  UntrustedToken,
  verifyTrusted,
} from "../../../../core/trusts/verify-trusted.ts";
import { expectedWorkload } from "../../../../core/trusts/workload.ts";
import { ownScopes } from "../client-credentials.ts";
import type { Grant, GrantBasis, GrantRequest } from "../grant.ts";
import {
  type IdentityAssertionDeps,
  type IdentityBasis,
  isIdentityAssertion,
  redeemIdentityAssertion,
  validateIdentityAssertion,
} from "./identity-assertion.ts";

interface WorkloadBasis extends GrantBasis {
  readonly workload: TrustedToken;
}

type JwtBearerBasis = WorkloadBasis | IdentityBasis;

export const jwtBearerGrant = (deps: IdentityAssertionDeps): Grant<JwtBearerBasis> => ({
  grantType: jwtBearerGrantType,
  provesClient: (form) => !isIdentityAssertion(typeOf(form)),
  validate: async (request) => {
    const assertion = request.form.values.get("assertion");
    if (assertion === undefined) throw new OAuthError("invalid_request", "assertion is missing");
    return isIdentityAssertion(typeOf(request.form))
      ? validateIdentityAssertion(deps, request, assertion)
      : validateWorkload(deps, request, assertion);
  },
  consume: (request, basis, signed) =>
    "assertion" in basis
      ? redeemIdentityAssertion(deps, request, basis, signed)
      : deps.database.transaction(async (tx) => {
          if (!(await consumeTrusted(tx, basis.workload))) throw refused("it was used before");
          return { tokens: await releaseTokens(signed, tx) };
        }),
});

const typeOf = ({ values }: Form): unknown =>
  decodeJwsUnverified(values.get("assertion") ?? "")?.header["typ"];

const refused = (cause: string) =>
  new OAuthError("invalid_grant", "the assertion cannot be used", { cause, reason: "assertion-invalid" });

/** @throws OAuthError invalid_grant: RFC 7523 §3.1 */
async function validateWorkload(
  deps: IdentityAssertionDeps,
  request: GrantRequest,
  assertion: string,
): Promise<WorkloadBasis> {
  const workload = await verifyTrusted(
    deps,
    assertion,
    await expectedWorkload(deps, request.application),
  ).catch((error: unknown) => {
    throw error instanceof UntrustedToken ? refused(error.message) : error;
  });
  const { iss, sub } = workload.claims;
  const proofHash = sha256Base64url(assertion);
  return { ...(await ownScopes(deps, request)), workload, proofHash, derived: { workload: { iss, sub } } };
}
