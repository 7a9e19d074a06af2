/** Administrators who may sign in past an enforced connection, so that its failure locks nobody out (connections.md §1, §4). */
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import { mustVerifyFactor } from "../second-factors/second-factor.ts";
import { findFactorSummary } from "../second-factors/second-factors.store.ts";
import { findUser } from "../users/users.store.ts";
import {
  deleteBreakGlassAccount,
  insertBreakGlassAccount,
  listBreakGlassAccounts,
} from "./break-glass.store.ts";
import { isLastBreakGlass } from "./last-break-glass.ts";

const MAX_ACCOUNTS = 5;

const messages = {
  "unknown-user": "there is no such user",
  "no-administrator": "is no administrator of the organisation whose account is its own",
  "no-second-factor": "has no second factor",
  "too-many": `an organisation has at most ${MAX_ACCOUNTS} break-glass administrators`,
  last: "is the last break-glass administrator while a domain is enforced",
} as const;

export class InvalidBreakGlass extends Error {
  override readonly name = "InvalidBreakGlass";
  readonly code: keyof typeof messages;
  constructor(code: keyof typeof messages) {
    super(messages[code]);
    this.code = code;
  }
}

type Grant = Act & { readonly userId: string };

/** Does nothing for one who has it. @throws InvalidBreakGlass */
export function grantBreakGlass(deps: CoreDeps, { userId, ...act }: Grant): Promise<void> {
  return deps.database.transaction(async (tx) => {
    const { orgId, actor } = act;
    const now = deps.clock();
    // Of two at once the second counts the first.
    await lockOrganisation(tx, orgId);
    const user = await findUser(tx, orgId, userId);
    if (!user) throw new InvalidBreakGlass("unknown-user");
    if (user.role !== "Administrator" || user.homeOrgId !== orgId || user.disabledAt !== null)
      throw new InvalidBreakGlass("no-administrator");
    if (!mustVerifyFactor(await findFactorSummary(tx, { homeOrgId: orgId, userId })))
      throw new InvalidBreakGlass("no-second-factor");
    const all = await listBreakGlassAccounts(tx, orgId);
    if (all.some((one) => one.userId === userId)) return;
    if (all.length >= MAX_ACCOUNTS) throw new InvalidBreakGlass("too-many");
    await insertBreakGlassAccount(tx, { orgId, userId, createdAt: now, createdBy: actor });
    const event = { action: "break-glass.granted" as const, target: userId };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
  });
}

/** @returns false when the user does not have it. @throws InvalidBreakGlass */
export function withdrawBreakGlass(deps: CoreDeps, { userId, ...act }: Grant): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    await lockOrganisation(tx, act.orgId);
    if (await isLastBreakGlass(tx, act.orgId, userId)) throw new InvalidBreakGlass("last");
    if (!(await deleteBreakGlassAccount(tx, act.orgId, userId))) return false;
    const event = { action: "break-glass.withdrawn" as const, target: userId };
    await recordAuditEvent(tx, { ...auditFields(act, deps.clock()), ...event });
    return true;
  });
}
