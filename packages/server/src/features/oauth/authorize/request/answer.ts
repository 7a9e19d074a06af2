/** The authorization response (RFC 6749 §4.1.2) in the requested response mode, always with `iss` (RFC 9207). */
import { buildRedirect } from "@signet/protocol/oauth/authorization-response";
import type { OAuthError } from "@signet/protocol/oauth/oauth-error";
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

/** RFC 6749 §4.1.2.1. The target is verified: an error never goes to an unregistered redirect URI. */
export function answerWithError(
  deps: BrowserDeps,
  visit: Visit,
  target: AnswerTarget,
  error: OAuthError,
): Promise<void> {
  deps.refusedRequests.note(target.application, "authorize", error);
  return answer(deps, visit, target, [
    ["error", error.code],
    ["error_description", error.description],
  ]);
}

async function answer(
  deps: BrowserDeps,
  visit: Visit,
  target: AnswerTarget,
  result: ReadonlyArray<readonly [string, string]>,
): Promise<void> {
  const { request, reply } = visit;
  const { application, redirectUri, responseMode, state } = target;
  // The issuer of the tokens: RFC 9207 §2.4 compares the two.
  const issuer = await applicationIssuer(deps, application);
  const parameters = [
    ...result,
    ...(state === undefined ? [] : [["state", state] as const]),
    ["iss", issuer] as const,
  ];
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
  // 303 after a POST: the browser must not resend the password (RFC 9700 §4.12).
  await reply.redirect(
    buildRedirect(redirectUri, responseMode, parameters),
    request.method === "GET" ? 302 : 303,
  );
}
