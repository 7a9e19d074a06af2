/**
 * The first half of a sign-up: one email, a link or "you have an account". Known, unknown and refused addresses take the same
 * statements, so that neither answer nor time tells them apart (connections.md §6).
 */
import { createAction, type LinkMailDeps } from "../actions/actions.ts";
import { linkAddress } from "../actions/link-address.ts";
import { signUpSubject } from "../actions/user-action.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import type { NewMail } from "../mail/outbox.ts";
import type { Organisation } from "../organisations/organisation.ts";
import { emailKey, type User } from "../users/user.ts";
import { findUserByEmail } from "../users/users.store.ts";
import { maySignUp, type SignUpRight } from "./may-sign-up.ts";

export type SignUpDeps = CoreDeps & LinkMailDeps & { readonly baseUrl: string };

export interface SignUpRequest {
  readonly organisation: Organisation;
  readonly email: string;
  /** Of the page. */
  readonly locale: string;
  readonly address: string;
  /** The browser, and the sealed sign-in that goes on in it. */
  readonly holderHash: string;
  readonly flow?: string | undefined;
}

/** The caller counts. @returns where people of an enforced domain go instead: then nothing is sent */
export async function requestSignUp(
  deps: SignUpDeps,
  request: SignUpRequest,
): Promise<Extract<SignUpRight, { kind: "upstream" }> | undefined> {
  const { organisation, email, address, locale, holderHash, flow } = request;
  const { query } = deps.database;
  const right = await maySignUp(query, organisation, email);
  if (right.kind === "upstream") return right;
  const orgId = organisation.id;
  const found = await findUserByEmail(query, orgId, emailKey(email));
  const owner = found?.user.disabledAt === null ? found.user : undefined;
  const reason = found
    ? reasonOf(owner)
    : right.kind === "refused"
      ? "the address may not sign up"
      : undefined;
  await deps.database.transaction(async (tx) => {
    const data =
      reason === undefined ? { email, holderHash, ...(flow === undefined ? {} : { flow }) } : { email: "" };
    const link = await createAction(tx, deps, {
      ...{ orgId, type: "SignUp", userId: signUpSubject(), data, isDecoy: reason !== undefined },
    });
    const mail: NewMail = owner
      ? existsMail(deps, { owner, address, locale })
      : {
          ...{ orgId, recipient: email, locale, isDecoy: reason !== undefined },
          mail: {
            template: "SignUp",
            data: { link: linkAddress(deps.baseUrl, "SignUp")(link.id), expiresAt: link.expiresAt },
          },
        };
    await deps.outbox.put(tx, mail);
    await recordAuditEvent(tx, {
      ...{
        orgId,
        at: deps.clock(),
        actor: "anonymous",
        action: "sign-up.requested",
        address,
        typedEmail: email,
      },
      ...(found ? { target: found.user.id } : {}),
      ...(reason === undefined ? {} : { details: { reason } }),
    });
  });
  return undefined;
}

const reasonOf = (owner: User | undefined): string =>
  owner ? "there is an account" : "the account is disabled";

const existsMail = (
  { clock }: SignUpDeps,
  { owner, address, locale }: { readonly owner: User; readonly address: string; readonly locale: string },
): NewMail => ({
  orgId: owner.orgId,
  recipient: owner.email,
  locale: owner.locale ?? locale,
  mail: {
    template: "AccountExists",
    data: { at: clock(), address, ...(owner.emailVerified ? { isVerified: true } : {}) },
  },
});
