/** A system account: a program that calls the JSON APIs (specification, "System account"). */
import type { RecordOf } from "../../db/records.ts";
import type { SystemAccountKeyTable, SystemAccountTable } from "../../db/tables/system-accounts.ts";
import type { Organisation } from "../organisations/organisation.ts";

export interface SystemAccount
  extends RecordOf<Omit<SystemAccountTable, "administrator" | "require_strict" | "allow_end_user_address">> {
  /** May use the management API of its organisation; in the legacy API it changes nothing. */
  readonly isAdministrator: boolean;
  /** Only calls in the strict form are accepted. */
  readonly requiresStrictSignature: boolean;
  /** Its calls may tell the end user's address, which limits and the audit log then believe. */
  readonly allowsEndUserAddress: boolean;
  /** Other applications that it may act for. */
  readonly permissions: readonly string[];
}

/** A key pair without its secret, which is read for verification only. */
export type SystemAccountKey = RecordOf<Omit<SystemAccountKeyTable, "org_id" | "account_id" | "secret">>;

export const isKeyActive = (key: Pick<SystemAccountKey, "expiresAt" | "revokedAt">, now: number): boolean =>
  key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now);

export const mayActFor = (account: SystemAccount, applicationId: string): boolean =>
  account.applicationId === applicationId || account.permissions.includes(applicationId);

/** The caller of a JSON API, authenticated by the signature of a system account. */
export interface SystemAccountCaller {
  readonly organisation: Organisation;
  readonly account: SystemAccount;
  readonly publicKey: string;
  /** The application that the call acts for. */
  readonly applicationId: string;
  /** For the audit log, like the address. */
  readonly actor: string;
  readonly address: string;
  /** Of the user for whom the application calls, where the account may tell it. */
  readonly endUserAddress: string | undefined;
}

/** An administrator who calls an API: with a system account's signature, or in a browser. */
export interface Administrator {
  readonly organisation: Organisation;
  /** As the audit log names the caller. */
  readonly actor: string;
  readonly address: string;
  /** Undefined for a browser. */
  readonly account: SystemAccountCaller | undefined;
}
