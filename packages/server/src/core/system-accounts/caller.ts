/** Whoever calls a JSON interface with a system account's signature. */
import type { Organisation } from "../organisations/organisation.ts";
import type { SystemAccount } from "./system-account.ts";

export interface SystemAccountCaller {
  readonly organisation: Organisation;
  readonly account: SystemAccount;
  /** The key that the call is signed with. */
  readonly publicKey: string;
  /** The application that the call is about: it runs with its permission. */
  readonly applicationId: string;
  /** For the audit log, as the address is: who calls, and from where. */
  readonly actor: string;
  readonly address: string;
}
