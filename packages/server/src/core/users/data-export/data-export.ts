/**
 * The data export of a user: everything that an organisation stores about them as one JSON document, without secrets
 * (hashes, keys, links) and without data of others. The audit log is read in batches.
 */
import { readFrom } from "../../../db/old-reads.ts";
import type { Db } from "../../../db/open.ts";
import { recordAuditEvent, type StoredEvent } from "../../audit/audit.store.ts";
import { exportAuditEvents } from "../../audit/export/export.ts";
import { subjectFilters } from "../../audit/search/search.ts";
import type { CoreDeps } from "../../core-deps.ts";
import type { Organisation } from "../../organisations/organisation.ts";
import { countAttempt, type RateLimits } from "../../rate-limits/rate-limits.ts";
import type { User } from "../user.ts";
import { personalRecords } from "./personal-records.ts";

export interface DataExportDeps extends CoreDeps {
  readonly rateLimits: RateLimits;
}

/**
 * Rate-limits and audits the export before anything is read.
 * @returns the document in chunks of text.
 * @throws RateLimited
 */
export async function exportOwnData(
  deps: DataExportDeps,
  { organisation, user, address }: { organisation: Organisation; user: User; address: string },
): Promise<AsyncGenerator<string>> {
  const orgId = organisation.id;
  await countAttempt(deps, orgId, [{ limit: deps.rateLimits["data-export"], subject: user.id }]);
  const at = deps.clock();
  const act = { orgId, at, actor: `user:${user.id}`, address };
  await recordAuditEvent(deps.database.query, { ...act, action: "user.data-exported", target: user.id });
  return document(deps.database.query, organisation, user, at);
}

async function* document(db: Db, organisation: Organisation, user: User, at: number): AsyncGenerator<string> {
  const head = {
    format: "signet-account-data",
    version: 1,
    exportedAt: new Date(at).toISOString(),
    organisation: { id: organisation.id, name: organisation.name },
    ...(await personalRecords(db, organisation, user)),
  };
  // Without the closing brace: the events follow.
  yield `${JSON.stringify(head, undefined, 2).slice(0, -2)},\n  "events": [`;
  let isFirst = true;
  for await (const event of exportAuditEvents(readFrom(db), organisation.id, {
    subjects: subjectFilters("user", user.id),
  })) {
    yield `${isFirst ? "" : ","}\n    ${JSON.stringify(eventOf(event, user))}`;
    isFirst = false;
  }
  yield isFirst ? "]\n}\n" : "\n  ]\n}\n";
}

/** Actions of others are included without their identity and address. */
function eventOf({ at, action, actor, target, address, details, context }: StoredEvent, user: User) {
  const isOwn = actor === `user:${user.id}`;
  const [kind = ""] = actor.split(":");
  return {
    at: new Date(at).toISOString(),
    action,
    by: isOwn ? "you" : kind === "user" ? "another user" : kind,
    ...(target === user.id ? { about: "you" } : {}),
    ...(address !== undefined && (isOwn || actor === "anonymous") ? { address } : {}),
    ...(isOwn && context?.browser !== undefined ? { browser: context.browser } : {}),
    ...(isOwn || target === user.id ? { details } : {}),
  };
}
