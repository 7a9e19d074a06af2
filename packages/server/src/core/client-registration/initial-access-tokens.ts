/** Creates, changes and deletes initial access tokens. */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import { hasOwnOrStandardMeaning } from "../applications/defined-scopes.ts";
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import { lockScopesByName } from "../scopes/scopes.store.ts";
import {
  type InitialAccessToken,
  type InitialAccessTokenSettings,
  isOver,
  MAX_OVER,
  MAX_TOKENS,
  requireValidToken,
  TooManyInitialAccessTokens,
} from "./initial-access-token.ts";
import {
  deleteTokenRow,
  insertInitialAccessToken,
  listInitialAccessTokens,
  lockInitialAccessToken,
  replaceInitialAccessToken,
} from "./initial-access-tokens.store.ts";

export const INITIAL_ACCESS_TOKEN_PREFIX = "sgn_it_";

type OfToken = Act & { readonly id: string; check?(token: InitialAccessToken): void | Promise<void> };

/** @returns the record with its token, which is never shown again. @throws InvalidInitialAccessToken, TooManyInitialAccessTokens */
export function createInitialAccessToken(
  deps: CoreDeps,
  { settings, ...act }: Act & { readonly settings: InitialAccessTokenSettings },
): Promise<{ readonly record: InitialAccessToken; readonly token: string }> {
  return deps.database.transaction(async (tx) => {
    const now = deps.clock();
    const { orgId } = act;
    // Of two at once the second counts the first.
    await lockOrganisation(tx, orgId);
    await requireValid(tx, orgId, settings, { now, from: now });
    await makeRoom(tx, orgId, now);
    const token = randomSecret(INITIAL_ACCESS_TOKEN_PREFIX);
    const record: InitialAccessToken = {
      ...withoutDoubles(settings),
      ...{ orgId, id: newUuid(), tokenHash: sha256Base64url(token), uses: 0 },
      ...{ createdAt: now, updatedAt: now, version: 1 },
    };
    await insertInitialAccessToken(tx, record);
    const event = { action: "initial-access-token.created" as const, target: record.id };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event, details: detailsOf(record) });
    return { record, token };
  });
}

const withoutDoubles = (settings: InitialAccessTokenSettings): InitialAccessTokenSettings => ({
  ...settings,
  allowedScopes: [...new Set(settings.allowedScopes)],
  allowedResources: [...new Set(settings.allowedResources)],
  grantTypes: [...new Set(settings.grantTypes)],
});

const detailsOf = ({ label, maxUses, allowedScopes }: InitialAccessToken) => ({
  ...(label === "" ? {} : { label }),
  ...{ maxUses, allowedScopes },
});

async function requireValid(
  tx: Db,
  orgId: string,
  settings: InitialAccessTokenSettings,
  times: { readonly now: number; readonly from: number },
): Promise<void> {
  const custom = settings.allowedScopes.filter((scope) => !hasOwnOrStandardMeaning(scope));
  // Locked, so that they are not deleted before it is there.
  const defined = custom.length === 0 ? [] : await lockScopesByName(tx, orgId, custom);
  requireValidToken(
    settings,
    times,
    (scope) => hasOwnOrStandardMeaning(scope) || defined.some((name) => name === scope),
  );
}

/** @throws TooManyInitialAccessTokens */
async function makeRoom(tx: Db, orgId: string, now: number): Promise<void> {
  const all = await listInitialAccessTokens(tx, orgId);
  const over = all.filter((token) => isOver(token, now));
  if (all.length - over.length >= MAX_TOKENS) throw new TooManyInitialAccessTokens();
  for (const { id } of over.slice(0, Math.max(0, over.length - MAX_OVER + 1)))
    await deleteTokenRow(tx, { orgId, id });
}

/**
 * Does nothing when nothing changes. Clients that have registered by it stay as they are.
 * @param change of the present settings, as they are locked
 * @returns undefined when there is none
 * @throws InvalidInitialAccessToken
 */
export function changeInitialAccessToken(
  deps: CoreDeps,
  {
    id,
    change,
    check,
    ...act
  }: OfToken & { readonly change: (before: InitialAccessToken) => InitialAccessTokenSettings },
): Promise<InitialAccessToken | undefined> {
  return deps.database.transaction(async (tx) => {
    await lockOrganisation(tx, act.orgId);
    const before = await lockInitialAccessToken(tx, { orgId: act.orgId, id });
    if (!before) return undefined;
    await check?.(before);
    const now = deps.clock();
    const wanted = withoutDoubles(change(before));
    const changed = (Object.keys(wanted) as Array<keyof InitialAccessTokenSettings>).filter(
      (name) => JSON.stringify(wanted[name]) !== JSON.stringify(before[name]),
    );
    if (changed.length === 0) return before;
    // An expired one may be changed in all but what it is over by.
    const isSameEnd = wanted.expiresAt === before.expiresAt;
    const times = { now: isSameEnd ? before.createdAt : now, from: before.createdAt };
    await requireValid(tx, act.orgId, wanted, times);
    const token = { ...before, ...wanted, updatedAt: now, version: before.version + 1 };
    await replaceInitialAccessToken(tx, token);
    const event = { action: "initial-access-token.changed" as const, target: id, details: { changed } };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
    return token;
  });
}

/** Clients that have registered by it stay. @returns false when there is none */
export function deleteInitialAccessToken(deps: CoreDeps, { id, check, ...act }: OfToken): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    const key = { orgId: act.orgId, id };
    const token = await lockInitialAccessToken(tx, key);
    if (!token) return false;
    await check?.(token);
    await deleteTokenRow(tx, key);
    const event = { action: "initial-access-token.deleted" as const, target: id, details: detailsOf(token) };
    await recordAuditEvent(tx, { ...auditFields(act, deps.clock()), ...event });
    return true;
  });
}
