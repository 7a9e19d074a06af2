/**
 * A pushed authorization request (RFC 9126): found by its request_uri for a minute, and used up by the code or error that is
 * issued for it, not by loading it (FAPI 2.0 Security Profile §5.3.2.2, note 3).
 */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { Db } from "../../db/open.ts";
import type { Clock } from "../clock.ts";
import { consumeOnce, isConsumed } from "../consumed-values.store.ts";
import { findPushedRequest, insertPushedRequest, type PushedRequest } from "./pushed-requests.store.ts";

export const REQUEST_URI_PREFIX = "urn:ietf:params:oauth:request_uri:";
export const PUSHED_REQUEST_LIFETIME_SECONDS = 60;

interface PushedRequestDeps {
  readonly database: { readonly query: Db };
  readonly clock: Clock;
}

/** @returns its request_uri */
export async function storePushedRequest(
  { database, clock }: PushedRequestDeps,
  request: Pick<PushedRequest, "orgId" | "applicationId" | "parameters" | "isSigned">,
): Promise<string> {
  const uri = randomSecret(REQUEST_URI_PREFIX);
  const now = clock();
  await insertPushedRequest(database.query, {
    ...request,
    uriHash: sha256Base64url(uri),
    createdAt: now,
    expiresAt: now + PUSHED_REQUEST_LIFETIME_SECONDS * 1000,
  });
  return uri;
}

/** @returns undefined when it is unknown, expired, used or another client's */
export async function loadPushedRequest(
  { database, clock }: PushedRequestDeps,
  { orgId, applicationId, uri }: { orgId: string; applicationId: string; uri: string },
): Promise<PushedRequest | undefined> {
  const found = await findPushedRequest(database.query, { orgId, uriHash: sha256Base64url(uri) });
  if (!found || found.applicationId !== applicationId || found.expiresAt <= clock()) return undefined;
  return (await isConsumed(database.query, usage(found))) ? undefined : found;
}

const usage = ({ orgId, uriHash }: Pick<PushedRequest, "orgId" | "uriHash">) => ({
  orgId,
  kind: "pushed-request",
  value: uriHash,
});

/** No sealed flow with the request is opened later (`until` in authorize/flow.ts). */
const USED_MS = 24 * 3_600_000;

/**
 * Used up by the code or error that is issued now, on every node.
 * @param db the transaction that issues the code
 * @throws OAuthError invalid_request_uri, for a page, when another response has used it
 */
export async function usePushedRequest(
  db: Db,
  request: Pick<PushedRequest, "orgId" | "uriHash">,
  now: number,
): Promise<void> {
  if (!(await consumeOnce(db, { ...usage(request), expiresAt: now + USED_MS }))) throw unusableRequestUri();
}

export const unusableRequestUri = (): OAuthError =>
  new OAuthError("invalid_request_uri", "The request_uri is unknown, expired or already used.", {
    reason: "request-uri-unusable",
  });
