/**
 * The authorization response (RFC 6749 §4.1.2) in the requested response mode, always with `iss` (RFC 9207). For an application of a
 * signing pool its agents sign a JWT response: with the tokens, or an error alone, and without an agent it is told on a page.
 */

import { signJws } from "@signet/protocol/jose/jws";
import { buildRedirect } from "@signet/protocol/oauth/authorization-response";
import type { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { isFapi } from "../../../../core/applications/security-profile.ts";
import { seconds } from "../../../../core/clock.ts";
import { usePushedRequest } from "../../../../core/pushed-requests/pushed-request.ts";
import { applicationIssuer } from "../../../../core/signing-pools/directory.ts";
import type { MessageToSign } from "../../../../core/tokens/signed-message.ts";
import { formPostScript } from "../../../../html/scripts.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import { limitNetwork } from "../../network-limit.ts";
import { type BrowserDeps, pageApplication, pageFrame, show, type Visit } from "../browser.ts";
import type { AnswerTarget } from "./authorization-request.ts";
import { formPostPage } from "./form-post.page.ts";

/** @param response what an agent has signed with the tokens: it has the same code */
export async function answerWithCode(
  deps: BrowserDeps,
  visit: Visit,
  target: AnswerTarget,
  { code, response }: { readonly code: string; readonly response?: string | undefined },
): Promise<void> {
  const plain = await plainResponse(deps, target, [["code", code]]);
  const isSigned = target.isJwt && response !== undefined;
  return send(visit, target, isSigned ? [["response", response]] : await inMode(deps, visit, target, plain));
}

/**
 * RFC 6749 §4.1.2.1. The target is verified: an error never goes to an unregistered redirect URI.
 * @throws OAuthError shown on a page when another response has used the pushed request, or when no agent signs this one: nothing is
 * used up then
 */
export async function answerWithError(
  deps: BrowserDeps,
  visit: Visit,
  target: AnswerTarget,
  error: OAuthError,
): Promise<void> {
  const { pushed: uriHash, application } = target;
  const result: Parameters = [
    ["error", error.code],
    ["error_description", error.description],
  ];
  const parameters = await inMode(deps, visit, target, await plainResponse(deps, target, result));
  if (uriHash !== undefined)
    await usePushedRequest(deps.database.query, { orgId: application.orgId, uriHash }, deps.clock());
  deps.refusedRequests.note(target.application, "authorize", error);
  return send(visit, target, parameters);
}

type Parameters = ReadonlyArray<readonly [string, string]>;

/** `iss` is the issuer of the tokens: RFC 9207 §2.4 compares the two. */
async function plainResponse(
  deps: Pick<BrowserDeps, "baseUrl" | "signingPools">,
  { application, state }: AnswerTarget,
  result: Parameters,
): Promise<Parameters> {
  const issuer = await applicationIssuer(deps, application);
  return [...result, ...(state === undefined ? [] : [["state", state] as const]), ["iss", issuer]];
}

const RESPONSE_LIFETIME_SECONDS = 600;

const responseMessage = ({ application }: AnswerTarget, plain: Parameters): MessageToSign => ({
  use: "authorization_response",
  claims: Object.fromEntries([...plain, ["aud", application.id]]) as MessageToSign["claims"],
  lifetimeSeconds: RESPONSE_LIFETIME_SECONDS,
});

/** The response with a code, for agents to sign with the tokens; undefined where it is no JWT. */
export const codeResponse = async (
  deps: Pick<BrowserDeps, "baseUrl" | "signingPools">,
  target: AnswerTarget,
  code: string,
): Promise<MessageToSign | undefined> =>
  target.isJwt ? responseMessage(target, await plainResponse(deps, target, [["code", code]])) : undefined;

async function inMode(
  deps: BrowserDeps,
  visit: Visit,
  target: AnswerTarget,
  plain: Parameters,
): Promise<Parameters> {
  if (!target.isJwt) return plain;
  const message = responseMessage(target, plain);
  const isPoolSigned = target.application.settings.signingPoolId !== undefined;
  return [["response", await (isPoolSigned ? signedByAgent : signedResponse)(deps, visit, target, message)]];
}

/** Anybody can have an error made, without a sign-in: such requests are few for each network, and in the pool's queue. */
async function signedByAgent(
  deps: BrowserDeps,
  { request }: Visit,
  { application }: AnswerTarget,
  message: MessageToSign,
): Promise<string> {
  const limit = deps.rateLimits["signed-error-address"];
  const counted = { limit, from: request, what: "refused authorization requests" };
  await limitNetwork(deps, application.orgId, counted);
  const { jws } = await deps.poolSigning.signMessage(message, {
    ...{ application, address: addressOf(request), grantType: "authorization_code" },
    ...{ userId: null, isAnonymous: true },
  });
  return jws;
}

/** The response as one JWT (JARM §2.1), which browser and network can neither read into nor change. */
async function signedResponse(
  { keys, ledger, clock }: BrowserDeps,
  _visit: Visit,
  { application: { orgId, settings } }: AnswerTarget,
  { claims, lifetimeSeconds = 0 }: MessageToSign,
): Promise<string> {
  const { alg, kid, privateKey } = await keys.signer(orgId, settings.authorizationSignedResponseAlg);
  const iat = seconds(clock());
  const payload = { ...claims, iat, exp: iat + lifetimeSeconds };
  const jws = await signJws({ alg, kid, privateKey, typ: "JWT", payload });
  await ledger.record(orgId, [{ kind: "authorization_response", kid, jws }]);
  return jws;
}

async function send(
  visit: Visit,
  { application, redirectUri, responseMode }: AnswerTarget,
  parameters: Parameters,
): Promise<void> {
  const { request, reply } = visit;
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
