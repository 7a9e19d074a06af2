/** The choice on the page of a password reset: which passkeys stay, and whether a new authenticator app does. */
import { sha256Base64url } from "@signet/protocol/hash";
import { factorOwner } from "../../../core/second-factors/factor-status.ts";
import {
  type FactorChoice,
  findResetFactors,
  keepsNoPasskey,
} from "../../../core/second-factors/factors-after-reset.ts";
import { listPasskeys } from "../../../core/second-factors/passkeys/passkeys.store.ts";
import type { User } from "../../../core/users/user.ts";
import type { Db } from "../../../db/open.ts";
import type { FactorChoiceView } from "./factor-choice.page.ts";

type Values = ReadonlyMap<string, string>;

/** `keep` or `remove`. Browsers require one; the app stays without it, because it signs nobody in alone. */
const TOTP = "authenticator";

/** By what the passkey is and not by its place in the list, which an intruder could change meanwhile. */
const fieldOf = (passkeyId: string): string => `keep-${sha256Base64url(passkeyId)}`;

/** @param values of the form, when it is shown again */
export async function loadFactorChoice(
  db: Db,
  user: User,
  now: number,
  values: Values = new Map(),
): Promise<FactorChoiceView> {
  const { passkeys, totp, mayRemoveTotp } = await findResetFactors(db, factorOwner(user), now);
  return {
    passkeys: passkeys.map(({ id, name, createdAt, lastUsedAt }) => ({
      field: fieldOf(id),
      isKept: values.has(fieldOf(id)),
      name,
      createdAt,
      lastUsedAt,
    })),
    totp: totp && {
      createdAt: totp.createdAt,
      choice: mayRemoveTotp ? { field: TOTP, value: values.get(TOTP) } : undefined,
    },
  };
}

/** A passkey without its field ends, as all do where the form has none. */
export async function readFactorChoice(db: Db, user: User, values: Values): Promise<FactorChoice> {
  const passkeys = await listPasskeys(db, factorOwner(user));
  const keptPasskeys = passkeys.map(({ id }) => id).filter((id) => values.has(fieldOf(id)));
  return { ...keepsNoPasskey, keptPasskeys, removesTotp: values.get(TOTP) === "remove" };
}
