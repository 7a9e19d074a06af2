/** GET and POST magic/{token}: mail scanners follow links, so that GET signs nobody in, and uses nothing up. */
import { sha256Base64url } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import {
  type EmailCode,
  findCodeOfLink,
  takeCodeOfLink,
} from "../../../../core/email-codes/email-codes.store.ts";
import { codeOfLink, MAX_TRIES } from "../../../../core/email-codes/email-codes.ts";
import { offersMail } from "../../../../core/organisations/sign-in-methods.ts";
import { parsedForm } from "../../../../http/form-body.ts";
import { showBrokenLink } from "../../recovery/link.ts";
import { loadRecoveryContext } from "../../recovery/recovery-context.ts";
import { browserRoute, hasValidCsrfToken, pageFormOptions, show, type Visit } from "../browser.ts";
import { flowPage } from "../page-request.ts";
import { continueWithEmail } from "../sign-in/password-session.ts";
import { readSealedFlow } from "../take-step.ts";
import { magicCodePage, magicLinkPage } from "./magic-link.page.ts";
import { codeKey, type MailSignInDeps, provenAccount } from "./sign-in-code.ts";

export function magicLinkRoutes(app: FastifyInstance, deps: MailSignInDeps): void {
  app.get("/oauth/:org/magic/:token", browserRoute(deps, showMagicLink));
  app.post("/oauth/:org/magic/:token", pageFormOptions, browserRoute(deps, useMagicLink));
}

interface OpenLink {
  readonly token: string;
  readonly linkHash: string;
  readonly sent: EmailCode & { readonly flow: string };
  /** This browser has asked for it. */
  readonly isOwn: boolean;
}

const usable = ({ clock }: MailSignInDeps) => ({ now: clock(), max: MAX_TRIES });

async function openMagicLink(deps: MailSignInDeps, visit: Visit): Promise<OpenLink | undefined> {
  const { organisation, request } = visit;
  const { token = "" } = request.params as { token?: string };
  const linkHash = sha256Base64url(token);
  const sent = await findCodeOfLink(deps.database.query, { orgId: organisation.id, linkHash }, usable(deps));
  if (!sent || sent.flow === null || !offersMail(organisation.settings)) return undefined;
  const isOwn = sent.holderHash === codeKey(deps, visit).holderHash;
  return { token, linkHash, sent: { ...sent, flow: sent.flow }, isOwn };
}

async function showMagicLink(deps: MailSignInDeps, visit: Visit): Promise<void> {
  const link = await openMagicLink(deps, visit);
  if (!link) return showBrokenLink(deps, visit, "SignIn");
  return link.isOwn ? showButton(deps, visit, link) : showCode(deps, visit, link);
}

async function showCode(deps: MailSignInDeps, visit: Visit, { token }: OpenLink): Promise<void> {
  const frame = await loadRecoveryContext(deps, visit, undefined, undefined);
  return show(visit, frame, magicCodePage({ ...frame, code: codeOfLink(token) }));
}

async function showButton(
  deps: MailSignInDeps,
  visit: Visit,
  { token, sent }: OpenLink,
  { status = 200, error }: { readonly status?: number; readonly error?: "session-expired" } = {},
): Promise<void> {
  const current = await readSealedFlow(deps, visit, sent.flow);
  if (!current) return;
  const { page: frame, redirectsElsewhere } = flowPage(deps, visit, current, undefined, `magic/${token}`);
  const page = magicLinkPage({ ...frame, email: sent.email, error });
  return show(visit, frame, page, { status, redirectsElsewhere });
}

async function useMagicLink(deps: MailSignInDeps, visit: Visit): Promise<void> {
  const link = await openMagicLink(deps, visit);
  if (!link) return showBrokenLink(deps, visit, "SignIn");
  if (!link.isOwn) return showCode(deps, visit, link);
  if (!hasValidCsrfToken(deps, visit, parsedForm(visit.request)))
    return showButton(deps, visit, link, { error: "session-expired", status: 403 });
  const current = await readSealedFlow(deps, visit, link.sent.flow);
  if (!current) return;
  const key = { ...codeKey(deps, visit), linkHash: link.linkHash };
  const taken = await takeCodeOfLink(deps.database.query, key, usable(deps));
  const account = taken && (await provenAccount(deps, visit, current, taken.email));
  return account ? continueWithEmail(deps, visit, current, account) : showBrokenLink(deps, visit, "SignIn");
}
