/** The caller of a JSON API, authenticated by a session key. */
import type { SystemAccountCaller } from "../system-accounts/system-account.ts";
import type { ValidSessionKey } from "./session-keys.ts";

export interface SessionKeyCaller extends ValidSessionKey {
  /** The system account that also signed the call. */
  readonly signedBy: SystemAccountCaller | undefined;
  /** For the audit log. */
  readonly actor: string;
}
