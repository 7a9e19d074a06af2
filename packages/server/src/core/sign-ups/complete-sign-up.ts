/**
 * The second half of a sign-up: whoever has the link has proven the address, and types a name and a password. The account is made
 * now, or waits for an administrator. The link is redeemed in the same transaction: of two requests, one wins.
 */
import { sha256Base64url } from "@signet/protocol/hash";
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import { type ActionDeps, redeemAction } from "../actions/actions.ts";
import type { UserAction } from "../actions/user-action.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { Organisation } from "../organisations/organisation.ts";
import type { RecordDeps } from "../record-changes.ts";
import { emailKey } from "../users/user.ts";
import { maySignUp } from "./may-sign-up.ts";
import { insertSignedUp, type SignedUp } from "./new-account.ts";
import { type NoticeToAdministrators, tellAdministrators } from "./notify-administrators.ts";
import { putWaiting } from "./sign-ups.store.ts";

const DAY_MS = 86_400_000;
/** How long one waits, and how long it is known what became of it. */
export const SIGN_UP_KEPT_MS = 30 * DAY_MS;

export type CompleteSignUpDeps = RecordDeps & ActionDeps & NoticeToAdministrators;

export interface SignUpCompletion extends Omit<SignedUp, "email"> {
  readonly organisation: Organisation;
  readonly action: UserAction;
  /** From the link. */
  readonly id: string;
  readonly address: string;
}

export type SignUpOutcome =
  | { readonly kind: "created"; readonly userId: string }
  | { readonly kind: "waiting" }
  /** The link was used meanwhile, there is an account by now, or the organisation has closed sign-up for the address. */
  | { readonly kind: "void" };

class SignUpVoid extends Error {}

export async function completeSignUp(
  deps: CompleteSignUpDeps,
  completion: SignUpCompletion,
): Promise<SignUpOutcome> {
  const { organisation, action } = completion;
  if ((await maySignUp(deps.database.query, organisation, action.data.email)).kind !== "allowed")
    return { kind: "void" };
  try {
    return await deps.database.transaction(async (tx) => {
      const named = { orgId: organisation.id, type: "SignUp", id: completion.id } as const;
      if (!(await redeemAction(tx, deps, named))) throw new SignUpVoid();
      return organisation.settings.signUp.mode === "approval"
        ? waitForApproval(tx, deps, completion)
        : createNow(tx, deps, completion);
    });
  } catch (error) {
    if (error instanceof SignUpVoid) return { kind: "void" };
    throw error;
  }
}

async function createNow(
  tx: Db,
  deps: CompleteSignUpDeps,
  { organisation, action, id: _, address, ...person }: SignUpCompletion,
): Promise<SignUpOutcome> {
  const { email } = action.data;
  const userId = await insertSignedUp(tx, deps, organisation, { ...person, email }, address);
  if (userId === undefined) throw new SignUpVoid();
  await recordAuditEvent(tx, {
    ...{ orgId: organisation.id, at: deps.clock(), actor: `user:${userId}`, action: "sign-up.completed" },
    ...{ target: userId, address, details: { state: "created" } },
  });
  return { kind: "created", userId };
}

async function waitForApproval(
  tx: Db,
  deps: CompleteSignUpDeps,
  { organisation: { id: orgId }, action, id: linkId, address, terms, ...person }: SignUpCompletion,
): Promise<SignUpOutcome> {
  const { email } = action.data;
  const now = deps.clock();
  const id = await putWaiting(tx, {
    ...{
      ...person,
      orgId,
      id: newUuid(),
      email,
      address,
      emailKey: emailKey(email),
      linkHash: sha256Base64url(linkId),
    },
    ...{ termsVersion: terms?.version ?? null, termsAcceptedAt: terms?.acceptedAt ?? null },
    ...{ state: "waiting", reason: null, userId: null, decidedAt: null },
    ...{ createdAt: now, updatedAt: now, expiresAt: now + SIGN_UP_KEPT_MS },
  });
  await recordAuditEvent(tx, {
    ...{ orgId, at: now, actor: "anonymous", action: "sign-up.completed", target: id, address },
    ...{ typedEmail: email, details: { state: "waiting" } },
  });
  await tellAdministrators(tx, deps, orgId);
  return { kind: "waiting" };
}
