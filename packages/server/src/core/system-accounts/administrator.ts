/** An administrator who calls an API: with a system account's signature, or in a browser. */
import type { Organisation } from "../organisations/organisation.ts";
import type { SystemAccountCaller } from "./caller.ts";

export interface Administrator {
  readonly organisation: Organisation;
  /** As the audit log names the caller. */
  readonly actor: string;
  readonly address: string;
  /** Undefined for a browser. */
  readonly account: SystemAccountCaller | undefined;
}
