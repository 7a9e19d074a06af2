/** The authorization response (RFC 6749 §4.1.2) in the requested response mode, always with `iss` (RFC 9207). */

import { signJws } from "@signet/protocol/jose/jws";
import { buildRedirect } from "@signet/protocol/oauth/authorization-response";
import type { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { isFapi } from "../../../../core/applications/security-profile.ts";
import { seconds } from "../../../../core/clock.ts";
import { usePushedRequest } from "../../../../core/pushed-requests/pushed-request.ts";
import { applicationIssuer } from "../../../../core/signing-pools/directory.ts";
import { formPostScript } from "../../../../html/scripts.ts";
import { type BrowserDeps, pageApplication, pageFrame, show, type Visit } from "../browser.ts";
import type { AnswerTarget } from "./authorization-request.ts";
import { formPostPage } from "./form-post.page.ts";

export function answerWithCode(
  deps: BrowserDeps,
  visit: Visit,
  target: AnswerTarget,
  code: string,
): Promise<void> {
  return answer(deps, visit, target, [["code", code]]);
}

/**
 * RFC 6749 §4.1.2.1. The target is verified: an error never goes to an unregistered redirect URI.
 * @throws OAuthError shown on a page when another response has used the pushed request
 */
export async function answerWithError(
  deps: BrowserDeps,
  visit: Visit,
  target: AnswerTarget,
  error: OAuthError,
): Promise<void> {
  const { pushed: uriHash, application } = target;
  if (uriHash !== undefined)
    await usePushedRequest(deps.database.query, { orgId: application.orgId, uriHash }, deps.clock());
  deps.refusedRequests.note(target.application, "authorize", error);
  return answer(deps, visit, target, [
    ["error", error.code],
    ["error_description", error.description],
  ]);
}

const RESPONSE_LIFETIME_SECONDS = 600;

/** The response as one JWT (JARM §2.1), which browser and network can neither read into nor change. */
async function signedResponse(
  { keys, ledger, clock }: BrowserDeps,
  { orgId, id, settings }: AnswerTarget["application"],
  parameters: ReadonlyArray<readonly [string, string]>,
): Promise<string> {
  const { alg, kid, privateKey } = await keys.signer(orgId, settings.authorizationSignedResponseAlg);
  const iat = seconds(clock());
  const times = { iat, exp: iat + RESPONSE_LIFETIME_SECONDS };
  const payload = { ...Object.fromEntries(parameters), aud: id, ...times };
  const jws = await signJws({ alg, kid, privateKey, typ: "JWT", payload });
  await ledger.record(orgId, [{ kind: "authorization_response", kid, jws }]);
  return jws;
}

async function answer(
  deps: BrowserDeps,
  visit: Visit,
  target: AnswerTarget,
  result: ReadonlyArray<readonly [string, string]>,
): Promise<void> {
  const { request, reply } = visit;
  const { application, redirectUri, responseMode, isJwt, state } = target;
  // The issuer of the tokens: RFC 9207 §2.4 compares the two.
  const issuer = await applicationIssuer(deps, application);
  const plain = [
    ...result,
    ...(state === undefined ? [] : [["state", state] as const]),
    ["iss", issuer] as const,
  ];
  const parameters = isJwt ? [["response", await signedResponse(deps, application, plain)] as const] : plain;
  if (responseMode === "form_post") {
    const frame = pageFrame(visit);
    const page = formPostPage({
      ...frame,
      application: pageApplication(application),
      redirectUri,
      fields: parameters.map(([name, value]) => ({ name, value })),
      script: formPostScript.path,
    });
    return show(visit, frame, page, { redirectsElsewhere: true });
  }
  reply.headers({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
  // 303 after a POST: the browser must not resend the password (RFC 9700 §4.12). FAPI 2.0 SP §5.3.2.2 wants it always.
  const status = request.method === "GET" && !isFapi(application.settings) ? 302 : 303;
  await reply.redirect(buildRedirect(redirectUri, responseMode, parameters), status);
}
