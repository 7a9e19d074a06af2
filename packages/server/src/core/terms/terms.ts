/** The terms of an organisation: a version that a user has not accepted is asked for before anything is issued (connections.md §6). */
import type { Db } from "../../db/open.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import type { Organisation } from "../organisations/organisation.ts";
import type { Terms } from "../organisations/sign-up-settings.ts";
import type { User } from "../users/user.ts";
import { hasAcceptedTerms, insertAcceptedTerms } from "./accepted-terms.store.ts";

type Settings = Pick<Organisation, "id" | "settings">;

/** @returns the terms that the user has still to accept. A guest accepts those of the organisation that is visited. */
export async function dueTerms(
  db: Db,
  { id: orgId, settings }: Settings,
  { id: userId }: Pick<User, "id">,
): Promise<Terms | undefined> {
  const { terms } = settings.signUp;
  if (!terms) return undefined;
  return (await hasAcceptedTerms(db, { orgId, userId, version: terms.version })) ? undefined : terms;
}

export interface Acceptance {
  readonly orgId: string;
  readonly userId: string;
  readonly version: string;
  /** Milliseconds: when the user said so. */
  readonly acceptedAt: number;
  readonly address?: string | undefined;
}

/** Accepted again, nothing is written. */
export async function recordAcceptance(
  tx: Db,
  { clock }: Pick<CoreDeps, "clock">,
  { address, ...acceptance }: Acceptance,
): Promise<void> {
  if (!(await insertAcceptedTerms(tx, acceptance))) return;
  const { orgId, userId, version, acceptedAt } = acceptance;
  await recordAuditEvent(tx, {
    ...{ orgId, at: clock(), actor: `user:${userId}`, action: "terms.accepted", target: userId, address },
    details: { version, acceptedAt: new Date(acceptedAt).toISOString() },
  });
}
