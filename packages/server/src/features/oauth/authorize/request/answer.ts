/** The answer to an authorization request, in the mode that was asked for, always with `iss` (RFC 9207). */
import { buildRedirect } from "@signet/protocol/oauth/authorization-response";
import type { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { issuerOf } from "../../../../core/organisations/organisation.ts";
import { formPostScript } from "../../../../html/scripts.ts";
import {
  type BrowserDeps,
  pageApplication,
  pageFrame,
  pageOrganisation,
  show,
  type Visit,
} from "../browser.ts";
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

/** RFC 6749 §4.1.2.1. The target is verified: an error never goes to an address that is not registered. */
export function answerWithError(
  deps: BrowserDeps,
  visit: Visit,
  target: AnswerTarget,
  error: OAuthError,
): Promise<void> {
  return answer(deps, visit, target, [
    ["error", error.code],
    ["error_description", error.description],
  ]);
}

/** That of the tokens (RFC 9207 §2.4 compares them). */
async function issuer(
  { baseUrl, poolSigning }: BrowserDeps,
  { organisation }: Visit,
  { application }: AnswerTarget,
): Promise<string> {
  const isPoolSigned = application.settings.signingPoolId !== undefined;
  return isPoolSigned ? poolSigning.issuer(organisation, application) : issuerOf(baseUrl, organisation.id);
}

async function answer(
  deps: BrowserDeps,
  visit: Visit,
  target: AnswerTarget,
  outcome: ReadonlyArray<readonly [string, string]>,
): Promise<void> {
  const { organisation, request, reply } = visit;
  const { redirectUri, responseMode, state } = target;
  const parameters = [
    ...outcome,
    ...(state === undefined ? [] : [["state", state] as const]),
    ["iss", await issuer(deps, visit, target)] as const,
  ];
  if (responseMode === "form_post") {
    const frame = pageFrame(visit);
    const page = formPostPage({
      ...frame,
      organisation: pageOrganisation(organisation),
      application: pageApplication(target.application),
      redirectUri,
      fields: parameters.map(([name, value]) => ({ name, value })),
      script: formPostScript.path,
    });
    return show(visit, frame, page, { leadsAway: true });
  }
  reply.headers({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
  // 303 after a POST: the browser must not send the password on (RFC 9700 §4.12).
  await reply.redirect(
    buildRedirect(redirectUri, responseMode, parameters),
    request.method === "GET" ? 302 : 303,
  );
}
