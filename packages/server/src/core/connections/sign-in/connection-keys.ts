/** New keys of an identity provider: taken, as a provider may rotate them at any time, and told to every administrator. */
import type { Db } from "../../../db/open.ts";
import { recordAuditEvent } from "../../audit/audit.store.ts";
import type { CoreDeps } from "../../core-deps.ts";
import { NO_LANGUAGE } from "../../mail/mail.ts";
import type { Outbox } from "../../mail/outbox.ts";
import { reachableAdministrators } from "../../users/members/administrators.store.ts";
import { findSeenKeys, insertSeenKeys, replaceSeenKeys } from "./connection-keys.store.ts";
import type { SignInConnection } from "./sign-in-connections.ts";
import { issuerOf } from "./sign-in-settings.ts";

/** Between two mails about one connection: a provider whose servers publish different keys is told about once, and audited each time. */
const QUIET_MS = 3_600_000;

export interface ConnectionKeysDeps extends CoreDeps {
  readonly outbox: Outbox;
  readonly baseUrl: string;
}

/** @param thumbprints RFC 7638, sorted: of a set with which the provider has just signed */
export async function recordConnectionKeys(
  deps: ConnectionKeysDeps,
  connection: SignInConnection,
  thumbprints: readonly string[],
): Promise<void> {
  const db = deps.database.query;
  const seen = { issuer: issuerOf(connection.settings), thumbprints };
  const before = await findSeenKeys(db, connection);
  const now = deps.clock();
  if (!before) return void (await insertSeenKeys(db, connection, seen));
  if (before.issuer === seen.issuer && JSON.stringify(before.thumbprints) === JSON.stringify(thumbprints))
    return;
  const added = thumbprints.filter((one) => !before.thumbprints.includes(one));
  const isNews = before.issuer === seen.issuer && added.length > 0;
  const isTold = isNews && (before.toldAt === null || before.toldAt + QUIET_MS <= now);
  const toldAt = isTold ? now : before.toldAt;
  await deps.database.transaction(async (tx) => {
    if (!(await replaceSeenKeys(tx, connection, { before, seen, toldAt })) || !isNews) return;
    await recordNewKeys(deps, tx, connection, { added, isTold, now });
  });
}

/**
 * Keys that are in the record, which the caller has locked and changed: no other request has told of them.
 * @param keys thumbprints (RFC 7638) of those before, and of those now
 */
export async function recordReplacedKeys(
  deps: ConnectionKeysDeps,
  tx: Db,
  connection: SignInConnection,
  keys: { readonly before: readonly string[]; readonly now: readonly string[] },
): Promise<void> {
  const seen = { issuer: issuerOf(connection.settings), thumbprints: keys.now };
  await insertSeenKeys(tx, connection, seen);
  const before = await findSeenKeys(tx, connection);
  const now = deps.clock();
  const toldAt = before?.toldAt ?? null;
  const isTold = toldAt === null || toldAt + QUIET_MS <= now;
  if (before) await replaceSeenKeys(tx, connection, { before, seen, toldAt: isTold ? now : toldAt });
  const added = keys.now.filter((one) => !keys.before.includes(one));
  await recordNewKeys(deps, tx, connection, { added, isTold, now });
}

async function recordNewKeys(
  deps: ConnectionKeysDeps,
  tx: Db,
  { orgId, id }: SignInConnection,
  {
    added,
    isTold,
    now,
  }: { readonly added: readonly string[]; readonly isTold: boolean; readonly now: number },
): Promise<void> {
  const event = { orgId, at: now, actor: "system", target: id, details: { added } };
  await recordAuditEvent(tx, { ...event, action: "connection.keys-changed" });
  if (!deps.outbox.isOpen || !isTold) return;
  const recordUri = `${deps.baseUrl}/oauth/manage/${orgId}/connections/${id}`;
  for await (const administrator of reachableAdministrators(tx, orgId))
    await deps.outbox.put(tx, {
      orgId,
      recipient: administrator.email,
      locale: administrator.locale ?? NO_LANGUAGE,
      mail: { template: "ConnectionKeysChanged", data: { at: now, recordUri } },
    });
}
