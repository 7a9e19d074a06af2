/** The caller of a JSON API, authenticated by the signature of a system account. */
import type { Organisation } from "../organisations/organisation.ts";
import type { SystemAccount } from "./system-account.ts";

export interface SystemAccountCaller {
  readonly organisation: Organisation;
  readonly account: SystemAccount;
  readonly publicKey: string;
  /** The application that the call acts for. */
  readonly applicationId: string;
  /** For the audit log, like the address. */
  readonly actor: string;
  readonly address: string;
}
