/** What an event mentions besides actor, target and address: written into its details, which the chain covers. */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { browserName } from "../known-browsers/browser-name.ts";
import { emailKey, isEmail } from "../users/user.ts";
import { auditedRequest } from "./audited-request.ts";

export interface EventContext {
  /** The reference that error pages show. */
  readonly requestId?: string;
  /** In fixed words, e.g. `Firefox, Windows`. */
  readonly browser?: string;
  readonly applicationId?: string;
  /** Another record that it is as much about as about its target, e.g. who is given a role. */
  readonly subjectId?: string;
  /** Commits to the typed email address, which is stored apart and deleted in time. */
  readonly emailHash?: string;
}

/** Indexed in `audit_mention`. */
export const mentionKinds = {
  request: "requestId",
  application: "applicationId",
  subject: "subjectId",
} as const;
export type MentionKind = keyof typeof mentionKinds;

/** A member of the details that no event has for itself. */
const CONTEXT = "context";

const MAX_LETTERS = 200;

/** Longer than most mistakes take to be noticed, and short enough for an address that may be anybody's. */
export const TYPED_EMAIL_KEPT_MS = 90 * 86_400_000;

export interface TypedEmail {
  readonly email: string;
  readonly salt: string;
}

/**
 * Empty for a known account, which the event names, and for what may be no address, e.g. a password in the wrong field:
 * the same statements run for all, so that their time tells nobody which accounts there are.
 */
export function readTypedEmail(text: string, isKnownAccount: boolean): TypedEmail {
  const email = text.length > MAX_TYPED ? "" : emailKey(text);
  const isKept = !isKnownAccount && isEmail(email) && DOMAIN.test(email);
  return { email: isKept ? email : "", salt: randomSecret("", 16) };
}

/** Longest address, and spaces around it. */
const MAX_TYPED = 300;
const DOMAIN = /@(?:[\p{L}\p{N}-]+\.)+\p{L}[\p{L}\p{N}-]+$/u;

export const typedEmailHash = ({ email, salt }: TypedEmail): string => sha256Base64url(`${salt}|${email}`);

/** Of the request that is being handled. @returns undefined when there is nothing to mention */
export function eventContext(event: {
  readonly applicationId: string | undefined;
  readonly subjectId: string | undefined;
  readonly typedEmail: TypedEmail | undefined;
}): EventContext | undefined {
  const request = auditedRequest();
  const browser = browserName(request?.userAgent ?? "");
  const context: EventContext = {
    ...(request ? { requestId: request.requestId.slice(0, MAX_LETTERS) } : {}),
    ...(browser === undefined ? {} : { browser }),
    ...(event.applicationId === undefined ? {} : { applicationId: event.applicationId }),
    ...(event.subjectId === undefined ? {} : { subjectId: event.subjectId }),
    ...(event.typedEmail ? { emailHash: typedEmailHash(event.typedEmail) } : {}),
  };
  return Object.keys(context).length === 0 ? undefined : context;
}

/** Last, so that the text that was hashed can be made again from the parts (`joinDetails`). */
export const joinDetails = (
  details: Readonly<Record<string, unknown>>,
  context: EventContext | undefined,
): Readonly<Record<string, unknown>> => (context ? { ...details, [CONTEXT]: context } : details);

/** @param stored parsed details, from any version or tampered with */
export function splitDetails<Details extends Readonly<Record<string, unknown>>>(
  stored: Details,
): { details: Omit<Details, "context">; context?: EventContext } {
  const { [CONTEXT]: context, ...details } = stored;
  return isContext(context) ? { details, context } : { details: stored };
}

const isContext = (value: unknown): value is EventContext =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((member) => typeof member === "string");

export interface Mention {
  readonly kind: MentionKind;
  readonly value: string;
}

export const mentionsOf = (context: EventContext | undefined): readonly Mention[] =>
  (Object.keys(mentionKinds) as MentionKind[]).flatMap((kind) => {
    const value = context?.[mentionKinds[kind]];
    return value === undefined ? [] : [{ kind, value }];
  });
