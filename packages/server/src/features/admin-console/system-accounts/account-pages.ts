/** The pages of a system account. */
import type { Encryption } from "../../../core/encryption/encryption.ts";
import { findSystemAccount } from "../../../core/system-accounts/system-accounts.store.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { recordPages } from "../../../page-kit/record-pages.ts";

export interface AccountsDeps extends ConsoleDeps {
  /** Encrypts the secret keys. */
  readonly encryption: Encryption;
}

export const accountPages = recordPages(
  "systemAccounts",
  "/system-accounts",
  findSystemAccount,
  ({ name }) => name,
);

/** Where the tab of its keys is, below an account's own address. */
export const KEYS = "/keys";
