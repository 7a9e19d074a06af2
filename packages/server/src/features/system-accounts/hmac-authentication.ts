/**
 * HMAC authentication of system accounts (specification, "HMAC API authentication"; wire-contract.md §3). Every failure
 * is one and the same 401: the audit log and the request log tell them apart.
 */
import {
  isHmacSignature,
  MOST_SKEW_SECONDS,
  NONCE_HEADER,
  NONCE_MAX_LENGTH,
  parseSystemAccountHeader,
  type StrictPart,
  TIMESTAMP_HEADER,
} from "@signet/protocol/hmac-signature";
import type { FastifyRequest } from "fastify";
import type { ApplicationDirectory } from "../../core/applications/applications.ts";
import { recordOnce } from "../../core/audit/unauthenticated-events.ts";
import type { Clock } from "../../core/clock.ts";
import { consumeOnce } from "../../core/consumed-values.store.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import type { SystemAccountCaller } from "../../core/system-accounts/caller.ts";
import type { KnownKey, SystemAccountDirectory } from "../../core/system-accounts/directory.ts";
import { isKeyActive, mayActFor, type SystemAccount } from "../../core/system-accounts/system-account.ts";
import type { Database } from "../../db/open.ts";
import { notAuthenticated } from "../../http/api/api-error.ts";
import type { ApiDoor } from "../../http/api/api-route.ts";
import { addressOf } from "../../http/listeners/client-address.ts";

export interface HmacDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly organisations: OrganisationDirectory;
  readonly applications: ApplicationDirectory;
  readonly systemAccounts: SystemAccountDirectory;
}

/** As it is audited. */
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

/** The strict headers of a request; undefined without them, null when one of the two is missing or malformed. */
function strictPartOf(request: FastifyRequest): StrictPart | undefined | null {
  const timestamp = request.headers[TIMESTAMP_HEADER];
  const nonce = request.headers[NONCE_HEADER];
  if (timestamp === undefined && nonce === undefined) return undefined;
  if (typeof timestamp !== "string" || !/^[0-9]{1,12}$/.test(timestamp)) return null;
  if (typeof nonce !== "string" || nonce === "" || nonce.length > NONCE_MAX_LENGTH) return null;
  return { method: request.method, target: request.raw.url ?? "", timestamp, nonce };
}

/** Who signed these bytes. @throws ApiError 401 */
export async function authenticateSystemAccount(
  deps: HmacDeps,
  request: FastifyRequest,
  raw: Buffer,
): Promise<SystemAccountCaller> {
  const credentials = parseSystemAccountHeader(request.headers.authorization);
  if (!credentials) throw notAuthenticated("no system account's Authorization header");
  const known = await deps.systemAccounts.find(credentials.publicKey);
  const strict = strictPartOf(request);
  // The time does not tell whether there is such a key.
  const secret = known?.secret ?? "sgn_sa_";
  const isSigned = isHmacSignature(credentials.signature, secret, raw, strict ?? undefined);
  if (!known) throw notAuthenticated("unknown public key");
  const organisation = await deps.organisations.find(known.account.orgId);
  if (!organisation) throw notAuthenticated("organisation disabled");
  const refusal = strict === null ? "strict-form-incomplete" : await faultOf(deps, known, strict, isSigned);
  if (refusal) return refuse(deps, request, known.account, refusal);
  deps.systemAccounts.noteUse(known);
  const { account, key } = known;
  const by = { actor: `system-account:${account.id}`, address: addressOf(request) };
  const { publicKey } = key;
  return { organisation, account, publicKey, applicationId: account.applicationId, ...by };
}

/** The nonce comes last: only a signed request uses one up. */
async function faultOf(
  deps: HmacDeps,
  { account, key }: KnownKey,
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
  if (skew > MOST_SKEW_SECONDS) return "timestamp-out-of-range";
  const isFirst = await consumeOnce(deps.database.query, {
    orgId: account.orgId,
    kind: "hmac-nonce",
    value: `${key.publicKey}|${strict.nonce}`,
    expiresAt: (Number(strict.timestamp) + MOST_SKEW_SECONDS) * 1000,
  });
  return isFirst ? undefined : "nonce-used";
}

/** Audited once a minute for each account and reason: who knows a public key must not be able to fill the log. */
export async function refuse(
  deps: HmacDeps,
  request: FastifyRequest,
  { orgId, id }: SystemAccount,
  refusal: Refusal,
): Promise<never> {
  await recordOnce(deps, { orgId, subject: `${id}|${refusal}` }, () => ({
    actor: `system-account:${id}`,
    action: "system-account.refused",
    target: id,
    address: addressOf(request),
    details: { reason: refusal },
  }));
  throw notAuthenticated(refusal);
}

/**
 * For the management API: accounts of administrators, for any application of their organisation.
 * @param rule.strictOnly the form that can be sent again by whoever sees it is refused
 */
export function administratorDoor(
  deps: HmacDeps,
  rule: { readonly strictOnly?: boolean } = {},
): ApiDoor<SystemAccountCaller> {
  return {
    authenticate: async (request, raw) => {
      const caller = await authenticateSystemAccount(deps, request, raw);
      if (!caller.account.isAdministrator)
        return refuse(deps, request, caller.account, "not-an-administrator");
      if (rule.strictOnly && strictPartOf(request) === undefined)
        return refuse(deps, request, caller.account, "strict-form-required");
      return caller;
    },
  };
}

/**
 * For the legacy API: the application that the call names must be one that the account has permission on. One that is
 * unknown, disabled or another organisation's is nobody's to act for, an administrator's account included.
 */
export function systemAccountDoor(deps: HmacDeps): ApiDoor<SystemAccountCaller> {
  return {
    authenticate: (request, raw) => authenticateSystemAccount(deps, request, raw),
    authorise: async (caller, request, body) => {
      const applicationId = targetOf(request, body) ?? caller.account.applicationId;
      const { account } = caller;
      const isPermitted = account.isAdministrator || mayActFor(account, applicationId);
      if (!isPermitted || !(await deps.applications.find(account.orgId, applicationId)))
        return refuse(deps, request, account, "no-permission");
      return { ...caller, applicationId };
    },
  };
}

/** The application that a call names: in its path, else as `ApplicationId` in its body. */
export function targetOf(request: FastifyRequest, body: unknown): string | undefined {
  const { appId, clientId } = (request.params ?? {}) as { appId?: string; clientId?: string };
  const inPath = appId || clientId;
  if (inPath) return inPath.toLowerCase();
  if (typeof body !== "object" || body === null || !Object.hasOwn(body, "ApplicationId")) return undefined;
  const { ApplicationId: inBody } = body as { ApplicationId?: unknown };
  return typeof inBody === "string" ? inBody.toLowerCase() : undefined;
}
