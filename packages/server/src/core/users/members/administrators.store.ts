/** Who can administer an organisation now. */
import { sql } from "kysely";
import { beyondCursor } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import { withHomeAccounts } from "./guests.store.ts";
import { memberships } from "./members.store.ts";

export interface ActiveAdministrator {
  readonly id: string;
  readonly email: string;
  readonly locale: string | null;
}

const PAGE = 100;

/**
 * Those who can be told something, oldest first; also who signs in without a password, by a passkey or a connection. Page by page,
 * so that a large organisation costs no more memory than a small one.
 * @param limit all of them when it is left out
 */
export async function* reachableAdministrators(
  db: Db,
  orgId: string,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<ActiveAdministrator> {
  let left = limit;
  for (let after: { value: number; id: string } | undefined; ; ) {
    const rows = await candidates(db, orgId, { except: "", after, isReached: true });
    const found = await active(db, orgId, rows, true);
    yield* found.slice(0, left);
    left -= found.length;
    const last = rows.at(-1);
    if (left <= 0 || !last || rows.length < PAGE) return;
    after = { value: last.since, id: last.user_id };
  }
}

type Candidates = Awaited<ReturnType<typeof candidates>>;

async function active(
  db: Db,
  orgId: string,
  rows: Candidates,
  isReached = false,
): Promise<ActiveAdministrator[]> {
  return (await withHomeAccounts(db, orgId, rows)).flatMap(([own, guest]) => {
    const { email, locale, password_hash, email_verified_at, disabled_at } = guest ?? own;
    const isAccepted = password_hash !== null || (isReached && email_verified_at !== null);
    return disabled_at === null && isAccepted ? [{ id: own.user_id, email: email ?? "", locale }] : [];
  });
}

/** Not disabled, with an active home organisation, and not merely invited; oldest first. */
export async function listActiveAdministrators(
  db: Db,
  orgId: string,
  { limit, except = "" }: { readonly limit: number; readonly except?: string },
): Promise<ActiveAdministrator[]> {
  const found: ActiveAdministrator[] = [];
  for (let after: { value: number; id: string } | undefined; found.length < limit; ) {
    const rows = await candidates(db, orgId, { except, after });
    found.push(...(await active(db, orgId, rows)));
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) break;
    after = { value: last.since, id: last.user_id };
  }
  return found.slice(0, limit);
}

/** Guests among them may be disabled at home. */
function candidates(
  db: Db,
  orgId: string,
  {
    except,
    after,
    isReached = false,
  }: { except: string; after: { value: number; id: string } | undefined; isReached?: boolean },
) {
  const place = { value: sql<number>`membership.created_at`, id: sql<string>`membership.user_id` };
  const query = memberships(db, orgId)
    .select(["membership.home_org_id", "membership.user_id", "membership.created_at as since"])
    .select(["user_account.id", "user_account.email", "user_account.locale", "password_hash"])
    .select("user_account.email_verified_at")
    .select("user_account.disabled_at")
    .where("membership.role", "=", "Administrator")
    // As in the partial index.
    .where("membership.role", "<>", sql.lit("Standard"))
    .where("membership.user_id", "<>", except)
    .where("membership.disabled_at", "is", null)
    .where((eb) =>
      eb.or([
        eb("membership.home_org_id", "<>", eb.ref("membership.org_id")),
        eb.and([
          eb("user_account.disabled_at", "is", null),
          eb.or([
            eb("user_account.password_hash", "is not", null),
            ...(isReached ? [eb("user_account.email_verified_at", "is not", null)] : []),
          ]),
          eb("home.disabled_at", "is", null),
        ]),
      ]),
    );
  const beyond = beyondCursor({ after, isDescending: false }, place);
  return (beyond ? query.where(beyond) : query)
    .orderBy("membership.created_at")
    .orderBy("membership.user_id")
    .limit(PAGE)
    .execute();
}
