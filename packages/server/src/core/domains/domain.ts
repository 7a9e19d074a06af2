/** A domain of an organisation: its name, and the TXT record that proves it (connections.md §1, §6). */
import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import { getDomain } from "tldts";
import type { RecordOf } from "../../db/records.ts";
import type { DomainTable } from "../../db/tables/domains.ts";
import { emailKey } from "../users/user.ts";

export const domainStates = ["pending", "proven", "lapsed"] as const;
export const proofErrors = ["not-found", "wrong-value", "unreachable"] as const;
export type ProofError = (typeof proofErrors)[number];

export interface Domain extends Omit<RecordOf<DomainTable>, "enforced" | "state" | "lastError"> {
  readonly enforced: boolean;
  readonly state: (typeof domainStates)[number];
  readonly lastError: ProofError | null;
}

export interface DomainKey {
  readonly orgId: string;
  readonly id: string;
}

/** More than any organisation has; each is looked up day by day. */
export const MAX_DOMAINS = 200;

const messages = {
  "invalid-domain": "is no domain name that can be registered: an address, a single label or a public suffix",
  "domain-taken": "the organisation has this domain already",
  "too-many-domains": `an organisation has at most ${MAX_DOMAINS} domains`,
  "unknown-connection": "names no connection of the organisation",
  "no-sign-in": "is a connection that signs nobody in",
  "not-proven": "needs a domain that is proven",
  "not-routed": "needs an enabled connection",
  "no-break-glass": "needs a break-glass administrator",
} as const;

export class InvalidDomain extends Error {
  override readonly name = "InvalidDomain";
  readonly code: keyof typeof messages;
  constructor(code: keyof typeof messages) {
    super(messages[code]);
    this.code = code;
  }
}

/** RFC 1035 §2.3.4. */
const MAX_LENGTH = 253;
/** RFC 1123 §2.1; A-labels are of this form (RFC 5890 §2.3.2.1). */
const HOST_NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * @returns the domain in A-labels and lower case, without a dot at the end
 * @throws InvalidDomain for what nobody can have registered: a public suffix is many people's
 */
export function validDomain(name: string): string {
  const ascii = domainToASCII(name.replace(/\.$/, ""));
  if (ascii.length > MAX_LENGTH || !HOST_NAME.test(ascii) || isIP(ascii) !== 0)
    throw new InvalidDomain("invalid-domain");
  if (getDomain(ascii, { allowPrivateDomains: true }) === null) throw new InvalidDomain("invalid-domain");
  return ascii;
}

/** @returns undefined for what is no email address */
export function domainOf(email: string): string | undefined {
  // By what its account is found by: a full-width @ is one too.
  const key = emailKey(email);
  const at = key.lastIndexOf("@");
  const ascii = at < 1 ? "" : domainToASCII(key.slice(at + 1).replace(/\.$/, ""));
  return ascii === "" ? undefined : ascii;
}

/** What the domain's owner publishes. */
export const proofRecord = ({ domain, token }: Pick<Domain, "domain" | "token">) => ({
  type: "TXT" as const,
  name: `_signet-challenge.${domain}`,
  value: `signet-domain-verification=${token}`,
});
