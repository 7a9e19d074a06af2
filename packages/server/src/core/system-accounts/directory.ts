/** Finds the system account of a public key on the hot path: cached with its decrypted secret, evicted on changes. */

import type { ChangeFeed } from "../../db/change-feed.ts";
import { recordCache } from "../cache/record-cache.ts";
import type { CoreDeps } from "../core-deps.ts";
import type { Encryption } from "../encryption/encryption.ts";
import { lastUses } from "../last-uses.ts";
import type { SystemAccount, SystemAccountKey } from "./system-account.ts";
import { findByPublicKey, recordKeyUse } from "./system-accounts.store.ts";
import { secretContext } from "./system-accounts.ts";

export interface AccountKey {
  readonly account: SystemAccount;
  readonly key: SystemAccountKey;
  readonly secret: string;
}

export interface SystemAccountDirectory {
  /** Undefined for an unknown key. The caller checks whether account and key are active. */
  find(publicKey: string): Promise<AccountKey | undefined>;
  /** Records the last use; written later, in batches. */
  recordUse(known: AccountKey): void;
  flush(): Promise<void>;
  /** Flushes and stops. */
  close(): Promise<void>;
}

export interface DirectoryDeps extends CoreDeps {
  readonly changes: ChangeFeed;
  readonly encryption: Encryption;
  onError(error: unknown): void;
}

/** A public key alone identifies an account, so all share one cache partition. */
const ANY_ORGANISATION = "";

export function systemAccountDirectory(deps: DirectoryDeps): SystemAccountDirectory {
  const { database, clock, encryption } = deps;
  const cache = recordCache<AccountKey>({
    name: "system-account",
    capacity: 10_000,
    maxAgeMs: 30_000,
    clock,
    load: async (_orgId, publicKey) => {
      const found = await findByPublicKey(database.query, publicKey);
      if (!found) return undefined;
      const { account, key, sealedSecret } = found;
      const secret = encryption.open(sealedSecret, secretContext(account.orgId, key.publicKey)).toString();
      return { account, key, secret };
    },
  });
  deps.changes.subscribe((change) => {
    if (change === "everything" || change.topic === "system-account") cache.clear();
  });

  const uses = lastUses<{ orgId: string; accountId: string; publicKey: string; at: number }>({
    write: (use) => recordKeyUse(database.query, use, use.at),
    onError: deps.onError,
  });
  return {
    find: async (publicKey) =>
      cache.peek(ANY_ORGANISATION, publicKey) ?? cache.get(ANY_ORGANISATION, publicKey),
    recordUse: ({ account, key: { publicKey } }) =>
      uses.note(publicKey, { orgId: account.orgId, accountId: account.id, publicKey, at: clock() }),
    flush: uses.flush,
    close: uses.close,
  };
}
