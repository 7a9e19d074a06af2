/**
 * HMAC authentication of system accounts (specification, "HMAC API authentication"; wire-contract.md §3). Every failure is
 * the same 401; only the audit log and the request log tell them apart.
 */

import { isIP } from "node:net";
import {
  MAX_SKEW_SECONDS,
  NONCE_HEADER,
  NONCE_MAX_LENGTH,
  parseSystemAccountHeader,
  type StrictPart,
  TIMESTAMP_HEADER,
} from "@signet/protocol/hmac-headers";
import { isHmacSignature } from "@signet/protocol/hmac-signature";
import type { ApplicationDirectory } from "../../core/applications/applications.ts";
import { noteCaller } from "../../core/audit/audited-request.ts";
import { recordOnce } from "../../core/audit/unauthenticated-events.ts";
import { consumeOnce } from "../../core/consumed-values.store.ts";
import type { CoreDeps } from "../../core/core-deps.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import type { AccountKey, SystemAccountDirectory } from "../../core/system-accounts/directory.ts";
import {
  isKeyActive,
  mayActFor,
  type SystemAccount,
  type SystemAccountCaller,
} from "../../core/system-accounts/system-account.ts";
import { invalid, notAuthenticated } from "../../http/api/api-error.ts";
import type { ApiAuthenticator, ApiRequest } from "../../http/api/api-route.ts";
import { needsStrictForm } from "../../http/api/strict-form.ts";
import { addressOf } from "../../http/listeners/client-address.ts";

export interface HmacDeps extends CoreDeps {
  readonly organisations: OrganisationDirectory;
  readonly applications: ApplicationDirectory;
  readonly systemAccounts: SystemAccountDirectory;
}

/** Tells the address of the user for whom an application's backend calls. */
const END_USER_ADDRESS_HEADER = "x-end-user-address";

type Refusal =
  | "account-disabled"
  | "application-disabled"
  | "key-expired-or-revoked"
  | "strict-form-required"
  | "strict-form-incomplete"
  | "timestamp-out-of-range"
  | "signature"
  | "nonce-used"
  | "not-an-administrator"
  | "no-permission";

/** @returns undefined without the strict headers, null when one of them is missing or malformed */
function readStrictHeaders(request: ApiRequest): StrictPart | undefined | null {
  const timestamp = request.headers[TIMESTAMP_HEADER];
  const nonce = request.headers[NONCE_HEADER];
  if (timestamp === undefined && nonce === undefined) return undefined;
  if (typeof timestamp !== "string" || !/^[0-9]{1,12}$/.test(timestamp)) return null;
  if (typeof nonce !== "string" || nonce === "" || nonce.length > NONCE_MAX_LENGTH) return null;
  return { method: request.method, target: request.raw.url ?? "", timestamp, nonce };
}

/** @param raw the bytes of the body, over which the signature goes. @throws ApiError 401 */
export async function authenticateSystemAccount(
  deps: HmacDeps,
  request: ApiRequest,
  raw: Buffer,
): Promise<SystemAccountCaller> {
  const credentials = parseSystemAccountHeader(request.headers.authorization);
  if (!credentials) throw notAuthenticated("no system account's Authorization header");
  const known = await deps.systemAccounts.find(credentials.publicKey);
  const strict = readStrictHeaders(request);
  // Verified for unknown keys too, so that the time does not reveal which keys exist.
  const secret = known?.secret ?? "sgn_sa_";
  const isSigned = isHmacSignature(credentials.signature, secret, raw, strict ?? undefined);
  if (!known) throw notAuthenticated("unknown public key");
  const organisation = await deps.organisations.find(known.account.orgId);
  if (!organisation) throw notAuthenticated("organisation disabled");
  noteCaller(organisation.id, undefined);
  const refusal =
    strict === null ? "strict-form-incomplete" : await findRefusal(deps, known, strict, isSigned);
  if (refusal) return refuse(deps, request, known.account, refusal);
  deps.systemAccounts.recordUse(known);
  const { account, key } = known;
  return {
    organisation,
    account,
    publicKey: key.publicKey,
    applicationId: account.applicationId,
    actor: `system-account:${account.id}`,
    address: addressOf(request),
    endUserAddress: account.allowsEndUserAddress ? readEndUserAddress(request) : undefined,
  };
}

/** Not covered by the signature: TLS protects it. @throws ApiError 422 */
function readEndUserAddress(request: ApiRequest): string | undefined {
  const address = request.headers[END_USER_ADDRESS_HEADER];
  if (address === undefined) return undefined;
  if (typeof address === "string" && isIP(address) !== 0 && !address.includes("%")) return address;
  throw invalid([{ path: "X-End-User-Address", message: "must be one IP address" }]);
}

/** Checks the nonce last: only a signed request consumes it. */
async function findRefusal(
  deps: HmacDeps,
  { account, key }: AccountKey,
  strict: StrictPart | undefined,
  isSigned: boolean,
): Promise<Refusal | undefined> {
  const now = deps.clock();
  if (!isSigned) return "signature";
  if (account.disabledAt !== null) return "account-disabled";
  if (!isKeyActive(key, now)) return "key-expired-or-revoked";
  if (!(await deps.applications.find(account.orgId, account.applicationId))) return "application-disabled";
  if (!strict) return account.requiresStrictSignature ? "strict-form-required" : undefined;
  const skew = Math.abs(Number(strict.timestamp) - now / 1000);
  if (skew > MAX_SKEW_SECONDS) return "timestamp-out-of-range";
  const isFirst = await consumeOnce(deps.database.query, {
    orgId: account.orgId,
    kind: "hmac-nonce",
    value: `${key.publicKey}|${strict.nonce}`,
    expiresAt: (Number(strict.timestamp) + MAX_SKEW_SECONDS) * 1000,
  });
  return isFirst ? undefined : "nonce-used";
}

/** Audits at most once a minute for each account and reason: a public key must not be enough to fill the log. */
export async function refuse(
  deps: HmacDeps,
  request: ApiRequest,
  { orgId, id, applicationId }: SystemAccount,
  refusal: Refusal,
): Promise<never> {
  await recordOnce(deps, { orgId, subject: `${id}|${refusal}` }, () => ({
    actor: `system-account:${id}`,
    action: "system-account.refused",
    target: id,
    address: addressOf(request),
    applicationId,
    details: { reason: refusal },
  }));
  throw notAuthenticated(refusal);
}

/**
 * For the management API: administrators' accounts, for any application of their organisation, in the strict form where
 * strict-form.ts wants it.
 */
export function administratorAccountAuthenticator(deps: HmacDeps): ApiAuthenticator<SystemAccountCaller> {
  return {
    authenticate: async (request, raw) => {
      const caller = await authenticateSystemAccount(deps, request, raw);
      if (!caller.account.isAdministrator)
        return refuse(deps, request, caller.account, "not-an-administrator");
      return caller;
    },
    authorise: async (caller, request, body, operation) => {
      if (needsStrictForm(operation, body) && readStrictHeaders(request) === undefined)
        return refuse(deps, request, caller.account, "strict-form-required");
      return caller;
    },
  };
}

/**
 * For the legacy API: the account needs permission on the application that the call names (specification, "System account":
 * only where explicitly granted). An administrator's account has no more rights here than another one.
 */
export function systemAccountAuthenticator(deps: HmacDeps): ApiAuthenticator<SystemAccountCaller> {
  return {
    authenticate: (request, raw) => authenticateSystemAccount(deps, request, raw),
    authorise: async (caller, request, body) => {
      const applicationId = targetApplicationId(request, body) ?? caller.account.applicationId;
      const { account } = caller;
      if (!mayActFor(account, applicationId) || !(await deps.applications.find(account.orgId, applicationId)))
        return refuse(deps, request, account, "no-permission");
      return { ...caller, applicationId };
    },
  };
}

/** The application that a call names in its path, or as `ApplicationId` in its body. */
export function targetApplicationId(request: ApiRequest, body: unknown): string | undefined {
  const { appId, clientId } = (request.params ?? {}) as { appId?: string; clientId?: string };
  const inPath = appId || clientId;
  if (inPath) return inPath.toLowerCase();
  if (typeof body !== "object" || body === null || !Object.hasOwn(body, "ApplicationId")) return undefined;
  const { ApplicationId: inBody } = body as { ApplicationId?: unknown };
  return typeof inBody === "string" ? inBody.toLowerCase() : undefined;
}
