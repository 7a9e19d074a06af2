/**
 * Who may look after pools and agents: an administrator's system account (its DELETE in the strict form alone, since a call
 * without a body always has the same signature), or an administrator in a browser, with the token of our own pages.
 */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyRequest } from "fastify";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import type { SignedIn } from "../../core/sessions/session.ts";
import type { SystemAccountCaller } from "../../core/system-accounts/caller.ts";
import type { Database } from "../../db/open.ts";
import { notAuthenticated } from "../../http/api/api-error.ts";
import type { ApiDoor } from "../../http/api/api-route.ts";
import { addressOf } from "../../http/client-address.ts";
import { CodedError, nothingHere } from "../../http/coded-error.ts";

export interface SovereignAdministrator {
  readonly organisation: Organisation;
  /** As the audit log has it. */
  readonly actor: string;
  readonly address: string;
  /** Undefined for a browser. */
  readonly account: SystemAccountCaller | undefined;
}

type AccountDoor = ApiDoor<SystemAccountCaller, Database>;

export interface AdminDoorDeps {
  readonly organisations: OrganisationDirectory;
  readonly accounts: AccountDoor;
  /** The same, for the strict form alone. */
  readonly strictAccounts: AccountDoor;
  /** What the sign-in gives. */
  readonly browser: {
    whoIsThere(organisation: Organisation, request: FastifyRequest): Promise<SignedIn | undefined>;
    isOwnForm(organisation: Organisation, request: FastifyRequest, presented: string | undefined): boolean;
    /** What a session lacks that may register signing keys. */
    lackingProof(signedIn: SignedIn): Promise<"fresh-sign-in" | "second-factor" | undefined>;
  };
}

/** Carries the token of a page of ours: the body has no member for it, and a DELETE no body. */
export const CSRF_HEADER = "x-csrf-token";

export function adminDoor(deps: AdminDoorDeps): ApiDoor<SovereignAdministrator, Database> {
  return {
    authenticate: async (request, raw) => {
      const { org = "" } = request.params as { org?: string };
      const organisation = isUuid(org) ? await deps.organisations.find(org.toLowerCase()) : undefined;
      if (!organisation) throw nothingHere();
      const account = await accountOf(deps, request, raw);
      if (account && account.organisation.id !== organisation.id) throw nothingHere();
      const actor = account?.actor ?? `user:${(await administratorOf(deps, organisation, request)).user.id}`;
      return { organisation, actor, address: addressOf(request), account };
    },
    repeat: ({ account }, request, raw, run) =>
      account && deps.accounts.repeat ? deps.accounts.repeat(account, request, raw, run) : run(),
  };
}

/** Undefined when the request has no signature. @throws ApiError 401 */
function accountOf(
  { accounts, strictAccounts }: AdminDoorDeps,
  request: FastifyRequest,
  raw: Buffer,
): Promise<SystemAccountCaller> | undefined {
  if (request.headers.authorization === undefined) return undefined;
  return (request.method === "DELETE" ? strictAccounts : accounts).authenticate(request, raw);
}

/** @throws ApiError 401, CodedError 403 */
async function administratorOf(
  { browser }: AdminDoorDeps,
  organisation: Organisation,
  request: FastifyRequest,
): Promise<SignedIn> {
  const signedIn = await browser.whoIsThere(organisation, request);
  if (!signedIn) throw notAuthenticated("neither a signature nor a session");
  const presented = request.headers[CSRF_HEADER];
  if (!browser.isOwnForm(organisation, request, typeof presented === "string" ? presented : undefined))
    throw new CodedError(403, "csrf", "the request does not come from a page of ours", {
      cause: "no token of a page, or another browser's",
    });
  if (signedIn.user.role !== "Administrator")
    throw new CodedError(403, "access_denied", "only an administrator of the organisation may do this");
  const lacking = await browser.lackingProof(signedIn);
  if (lacking !== undefined)
    throw new CodedError(403, "interaction_required", "sign in again, with the second factor", {
      cause: lacking,
    });
  return signedIn;
}
