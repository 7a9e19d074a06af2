/** The system account behind a public key, on the hot path: kept in memory with its opened secret, and told of changes. */
import type { ChangeFeed } from "../../db/change-feed.ts";
import type { Database } from "../../db/open.ts";
import { recordCache } from "../cache/record-cache.ts";
import type { Clock } from "../clock.ts";
import type { Encryption } from "../encryption/encryption.ts";
import { lastUses } from "../last-uses.ts";
import type { SystemAccount, SystemAccountKey } from "./system-account.ts";
import { findByPublicKey, touchKey } from "./system-accounts.store.ts";
import { secretRow } from "./system-accounts.ts";

export interface KnownKey {
  readonly account: SystemAccount;
  readonly key: SystemAccountKey;
  readonly secret: string;
}

export interface SystemAccountDirectory {
  /** Undefined for an unknown key; what is disabled, revoked or expired is for the caller to look at. */
  find(publicKey: string): Promise<KnownKey | undefined>;
  /** When a key was used last; written some time later, and in one go. */
  noteUse(known: KnownKey): void;
  flush(): Promise<void>;
  /** Flushes and stops. */
  close(): Promise<void>;
}

export interface DirectoryDeps {
  readonly database: Database;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly encryption: Encryption;
  onError(error: unknown): void;
}

/** Public keys are not looked up within an organisation: in the cache they all stand under one name. */
const ANYWHERE = "";

export function systemAccountDirectory(deps: DirectoryDeps): SystemAccountDirectory {
  const { database, clock, encryption } = deps;
  const cache = recordCache<KnownKey>({
    capacity: 10_000,
    maxAgeMs: 30_000,
    clock,
    load: async (_anywhere, publicKey) => {
      const found = await findByPublicKey(database.query, publicKey);
      if (!found) return undefined;
      const { account, key, sealedSecret } = found;
      const secret = encryption.open(sealedSecret, secretRow(account.orgId, key.publicKey)).toString();
      return { account, key, secret };
    },
  });
  deps.changes.subscribe((change) => {
    if (change === "everything" || change.topic === "system-account") cache.clear();
  });

  const uses = lastUses<{ orgId: string; accountId: string; publicKey: string; at: number }>({
    write: (use) => touchKey(database.query, use, use.at),
    onError: deps.onError,
  });
  return {
    find: async (publicKey) => cache.peek(ANYWHERE, publicKey) ?? cache.get(ANYWHERE, publicKey),
    noteUse: ({ account, key: { publicKey } }) =>
      uses.note(publicKey, { orgId: account.orgId, accountId: account.id, publicKey, at: clock() }),
    flush: uses.flush,
    close: uses.close,
  };
}
