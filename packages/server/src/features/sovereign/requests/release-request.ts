/** What leaves a signing request, each once: the signed tokens, and the browser's continuation. */
import type { Db } from "../../../db/open.ts";
import { clearContinuation, extendSigned, releaseSigned } from "./release-request.store.ts";
import type { SealedTokens } from "./save-signed.ts";
import { findRequest, openColumn, type SigningRequestRow } from "./signing-request.store.ts";
import { openJson, type RequestKey, type RequestState, type SigningDeps } from "./signing-request.ts";

export type ReleasedTokens = NonNullable<Awaited<ReturnType<typeof releaseTokens>>>;

/** @throws when what was signed is no token */
export async function releaseTokens(...[deps, db, signed, waiter]: Parameters<typeof releaseJwts>) {
  const released = await releaseJwts(deps, db, signed, waiter);
  if (!released) return undefined;
  const { jwts, iat, exp } = released;
  const { access_token: accessToken, id_token: idToken } = jwts;
  if (accessToken === undefined) throw new Error("the request has no access token");
  return { accessToken, iat, exp, ...(idToken === undefined ? {} : { idToken }) };
}

/**
 * Releases what was signed in the caller's transaction, so that the grant (a refresh token, a code) is consumed with
 * them or not at all.
 * @param signed the status as it was just read
 * @param waiter must still be assigned, when given
 * @returns undefined when they are not signed, were released before, or have expired
 */
export async function releaseJwts(
  deps: SigningDeps,
  db: Db,
  signed: RequestKey & { readonly seq: number; readonly sealedTokens: string | null },
  waiter?: string,
): Promise<SealedTokens | undefined> {
  const { orgId, requestId, seq, sealedTokens } = signed;
  if (sealedTokens === null) return undefined;
  if (!(await releaseSigned(db, { orgId, requestId, seq, waiter, now: deps.clock() }))) return undefined;
  return openJson<SealedTokens>(deps.encryption, signed, "signed", sealedTokens);
}

/** What was signed beside tokens that are not released yet, without releasing them. */
export function peekSigned(
  { encryption }: Pick<SigningDeps, "encryption">,
  signed: RequestKey & { readonly sealedTokens: string | null },
): SealedTokens | undefined {
  return signed.sealedTokens === null
    ? undefined
    : openJson<SealedTokens>(encryption, signed, "signed", signed.sealedTokens);
}

/** Keeps signed tokens, e.g. until the code that stands for them expires. @returns false when they are not signed */
export const keepTokens = (
  { clock }: SigningDeps,
  db: Db,
  which: RequestKey & { readonly until: number },
): Promise<boolean> => extendSigned(db, { ...which, now: clock() });

export const openContinuation = (deps: SigningDeps, row: SigningRequestRow): unknown =>
  row.continuation === null ? null : openColumn(deps, row, "continuation");

const continuable: readonly string[] = ["signed", "failed", "expired"];

/** @returns what `createRequest` was given, once; undefined while the request is open, or when it was taken before */
export async function takeContinuation(
  deps: SigningDeps,
  db: Db,
  key: RequestKey,
): Promise<{ readonly continuation: unknown; readonly state: RequestState } | undefined> {
  const row = await findRequest(db, key);
  if (!row || row.continuation === null || !continuable.includes(row.state)) return undefined;
  const continuation = openContinuation(deps, row);
  return (await clearContinuation(db, row)) ? { continuation, state: row.state as RequestState } : undefined;
}
