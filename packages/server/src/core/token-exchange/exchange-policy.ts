/** A token exchange policy: which client may exchange whose tokens for what (modern-oauth.md §6). */
import type { RecordOf } from "../../db/records.ts";
import type { TokenExchangePolicyTable } from "../../db/tables/trusts.ts";

export const requestedTokenTypes = ["access_token", "id_jag"] as const;
export type RequestedTokenType = (typeof requestedTokenTypes)[number];

type Encoded = "subject_client_ids" | "requested_token_type" | "scopes" | "impersonation" | "enabled";

export interface ExchangePolicy extends RecordOf<Omit<TokenExchangePolicyTable, Encoded>> {
  /** None: tokens of any client that the policy's client may introspect. */
  readonly subjectClientIds: readonly string[];
  readonly requestedTokenType: RequestedTokenType;
  readonly scopes: readonly string[];
  readonly impersonation: boolean;
  readonly enabled: boolean;
}

/** What is written; the rest is the record's own. */
export type ExchangePolicySettings = Omit<
  ExchangePolicy,
  "orgId" | "id" | "createdAt" | "updatedAt" | "version"
>;

export interface PolicyKey {
  readonly orgId: string;
  readonly id: string;
}

export const MAX_POLICIES = 200;
export const MAX_SUBJECT_CLIENTS = 100;
export const MAX_POLICY_SCOPES = 100;
export const LIFETIME_RANGE = [60, 86_400] as const;
export const DEFAULT_LIFETIME_SECONDS = 3_600;

export interface PolicyFault {
  readonly path: string;
  readonly message: string;
}

export class InvalidExchangePolicy extends Error {
  override readonly name = "InvalidExchangePolicy";
  readonly faults: readonly PolicyFault[];
  constructor(faults: readonly PolicyFault[]) {
    super(faults.map(({ path, message }) => `${path}: ${message}`).join("; "));
    this.faults = faults;
  }
}

/** A member names a client that the organisation has not. @param member as a JSON Pointer without the first `/` */
export class UnknownPolicyClient extends Error {
  override readonly name = "UnknownPolicyClient";
  readonly member: string;
  constructor(member: string) {
    super(`${member} names nothing in this organisation`);
    this.member = member;
  }
}

export class TooManyPolicies extends Error {
  override readonly name = "TooManyPolicies";
  constructor() {
    super(`an organisation has at most ${MAX_POLICIES} token exchange policies`);
  }
}
