/**
 * Signing in by an email to the account's address (connections.md §6). Known and unknown addresses get the same statements and the
 * same answer; only a known one gets the email.
 */
import { sha256Base64url } from "@signet/protocol/hash";
import { countFailedSignIn } from "../../../../core/activity/kinds.ts";
import {
  type EmailCodeDeps,
  sendEmailCode,
  takeEmailCode,
} from "../../../../core/email-codes/email-codes.ts";
import type { RecordDeps } from "../../../../core/record-changes.ts";
import type { RightPassword } from "../../../../core/users/check-password.ts";
import { proveAddress } from "../../../../core/users/prove-address.ts";
import { emailKey } from "../../../../core/users/user.ts";
import { findSignInAccount } from "../../../../core/users/users.store.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import { countCodeRequest } from "../../recovery/link-mail.ts";
import { formBinding, orgPath, requestOrigin, type Visit } from "../browser.ts";
import { type OwnFactorsDeps, ownFactors } from "../sign-in/own-factors.ts";
import type { CurrentFlow } from "../take-step.ts";

export type MailSignInDeps = OwnFactorsDeps & EmailCodeDeps & RecordDeps;

/** By a token that only this browser has: before the sign-in it binds forms, afterwards another takes its place. */
const holderOf = (browser: string): string => sha256Base64url(`email-sign-in|${browser}`);

/** What waits in this browser. */
export const codeKey = (deps: MailSignInDeps, { organisation, request }: Visit) => ({
  orgId: organisation.id,
  holderHash: holderOf(deps.cookies.read(request, organisation.id) ?? ""),
});

/** Limited as every email to a mailbox is. @returns how long to wait, when none was sent */
export async function sendSignInMail(
  deps: MailSignInDeps,
  visit: Visit,
  { flow, request }: CurrentFlow,
  { email, hasLink }: { readonly email: string; readonly hasLink: boolean },
): Promise<{ readonly retryAfterSeconds: number } | undefined> {
  const limited = await countCodeRequest(deps, visit, email);
  if (limited) return limited;
  const { organisation } = visit;
  const { address, locale } = requestOrigin(visit, request.uiLocales);
  const account = await findSignInAccount(deps.database.query, organisation.id, emailKey(email));
  const user = account?.user.disabledAt === null ? account.user : undefined;
  const addressIn = (token: string) => `${deps.baseUrl}${orgPath(organisation, `magic/${token}`)}`;
  await sendEmailCode(deps, {
    ...{ orgId: organisation.id, actor: "anonymous", address, email },
    holderHash: holderOf(formBinding(deps, visit).browser),
    link: hasLink ? { addressOf: addressIn, flow: deps.flows.seal(flow) } : undefined,
    locale: user?.locale ?? locale,
    ...(user
      ? { target: user.id, recipient: user.email, isVerified: user.emailVerified ? true : undefined }
      : { decoyReason: "no usable account" }),
  });
  return undefined;
}

export async function checkSignInCode(
  deps: MailSignInDeps,
  visit: Visit,
  current: CurrentFlow,
  typed: string,
): Promise<RightPassword | "wrong" | "ended"> {
  const act = { actor: "anonymous", address: addressOf(visit.request) };
  const code = typed.replaceAll(/[\s-]/g, "").slice(0, 20);
  const taken = await takeEmailCode(deps, { ...act, ...codeKey(deps, visit), code });
  if (typeof taken !== "string") return (await provenAccount(deps, visit, current, taken.email)) ?? "ended";
  countFailedSignIn(deps.activity.count, visit.organisation.id, "email");
  return taken;
}

/** @returns the account of an address that is proven; undefined when it signs nobody in here, any more */
export async function provenAccount(
  deps: MailSignInDeps,
  visit: Visit,
  current: CurrentFlow,
  email: string,
): Promise<RightPassword | undefined> {
  const find = () => findSignInAccount(deps.database.query, visit.organisation.id, emailKey(email));
  const account = await find();
  if (account?.user.disabledAt !== null) return undefined;
  if ((await ownFactors(deps, visit, current, email)).kind === "closed") return undefined;
  await proveAddress(deps, account.user, addressOf(visit.request));
  return find();
}
