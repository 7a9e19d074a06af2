/**
 * Who may look after what an organisation's tokens and devices rest on: an administrator's system account, or an
 * administrator in a browser, with the token of our own pages and a fresh proof of who they are. Reading asks a browser for
 * neither of the two: no other site can read the answer; a second factor and a confirmed address, where everybody must have
 * them, are asked for always.
 */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyRequest } from "fastify";
import { CodedError, nothingHere } from "../coded-error.ts";
import { addressOf } from "../listeners/client-address.ts";
import { notAuthenticated } from "./api-error.ts";
import type { ApiDoor } from "./api-route.ts";

/** `O` is an organisation, `A` the caller that a system account is. */
export interface Administrator<O, A> {
  readonly organisation: O;
  /** As the audit log has it. */
  readonly actor: string;
  readonly address: string;
  /** Undefined for a browser. */
  readonly account: A | undefined;
}

interface AccountCaller {
  readonly organisation: { readonly id: string };
  readonly actor: string;
}

interface Person {
  readonly user: { readonly id: string; readonly role: string };
}

/** @typeParam W what an act happens in, when its answer is kept with it */
export interface AdministratorAccess<O, A extends AccountCaller, S extends Person, W> {
  findOrganisation(id: string): Promise<O | undefined>;
  readonly accounts: ApiDoor<A, W>;
  /** The same, for the strict form alone. */
  readonly strictAccounts: ApiDoor<A, W>;
  /** What the sign-in gives. */
  readonly browser: {
    whoIsThere(organisation: O, request: FastifyRequest): Promise<S | undefined>;
    isOwnForm(organisation: O, request: FastifyRequest, presented: string | undefined): boolean;
    /** What a session lacks that may change anything here. */
    lackingProof(signedIn: S): Promise<"fresh-sign-in" | "second-factor" | undefined>;
    /** What the organisation asks of everybody, of a session that only looks too. */
    lackingHere(
      organisation: O,
      request: FastifyRequest,
      signedIn: S,
    ): Promise<"verified-email" | "second-factor" | undefined>;
  };
}

/** Carries the token of a page of ours: the body has no member for it, and a DELETE no body. */
export const CSRF_HEADER = "x-csrf-token";

/**
 * @param rule.isStrictOnly calls whose plain signature would be good for another call too: one without a body, or whose
 * body is the same for every record
 */
export function administratorAccessDoor<
  O extends { id: string },
  A extends AccountCaller,
  S extends Person,
  W,
>(
  access: AdministratorAccess<O, A, S, W>,
  rule: { isStrictOnly(request: FastifyRequest): boolean },
): ApiDoor<Administrator<O, A>, W> {
  return {
    authenticate: async (request, raw) => {
      const { org = "" } = request.params as { org?: string };
      const organisation = isUuid(org) ? await access.findOrganisation(org.toLowerCase()) : undefined;
      if (!organisation) throw nothingHere();
      const account = await accountOf(access, request, raw, rule.isStrictOnly(request));
      if (account && account.organisation.id !== organisation.id) throw nothingHere();
      const actor = account?.actor ?? `user:${(await personOf(access, organisation, request)).user.id}`;
      return { organisation, actor, address: addressOf(request), account };
    },
    repeat: ({ account }, request, raw, run) =>
      account && access.accounts.repeat ? access.accounts.repeat(account, request, raw, run) : run(),
  };
}

/** Undefined when the request has no signature. @throws ApiError 401 */
function accountOf<O, A extends AccountCaller, S extends Person, W>(
  { accounts, strictAccounts }: AdministratorAccess<O, A, S, W>,
  request: FastifyRequest,
  raw: Buffer,
  isStrictOnly: boolean,
): Promise<A> | undefined {
  if (request.headers.authorization === undefined) return undefined;
  return (isStrictOnly ? strictAccounts : accounts).authenticate(request, raw);
}

const interactions = {
  "fresh-sign-in": "sign in again, with the second factor",
  "second-factor": "sign in again, with the second factor",
  "verified-email": "confirm the email address first",
} as const;

/** @throws ApiError 401, CodedError 403 */
async function personOf<O, A extends AccountCaller, S extends Person, W>(
  { browser }: AdministratorAccess<O, A, S, W>,
  organisation: O,
  request: FastifyRequest,
): Promise<S> {
  const signedIn = await browser.whoIsThere(organisation, request);
  if (!signedIn) throw notAuthenticated("neither a signature nor a session");
  const isReading = request.method === "GET";
  const presented = request.headers[CSRF_HEADER];
  const token = typeof presented === "string" ? presented : undefined;
  if (!isReading && !browser.isOwnForm(organisation, request, token))
    throw new CodedError(403, "csrf", "the request does not come from a page of ours", {
      cause: "no token of a page, or another browser's",
    });
  if (signedIn.user.role !== "Administrator")
    throw new CodedError(403, "access_denied", "only an administrator of the organisation may do this");
  const lacking =
    (await browser.lackingHere(organisation, request, signedIn)) ??
    (isReading ? undefined : await browser.lackingProof(signedIn));
  if (lacking !== undefined)
    throw new CodedError(403, "interaction_required", interactions[lacking], { cause: lacking });
  return signedIn;
}
