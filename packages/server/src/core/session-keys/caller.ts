/** Whoever calls a JSON interface with a session key. */
import type { SystemAccountCaller } from "../system-accounts/caller.ts";
import type { ValidSessionKey } from "./session-keys.ts";

export interface SessionKeyCaller extends ValidSessionKey {
  /** The system account whose signature came along. */
  readonly signedBy: SystemAccountCaller | undefined;
  /** For the audit log. */
  readonly actor: string;
}
