/**
 * Accepting a form: sent by one of our pages, by a user who may change something, recently authenticated where
 * recent-sign-in.ts demands it, and at most once where it creates or sends something. What was typed survives every refusal.
 */
import { randomBytes } from "node:crypto";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { consumeOnce } from "../core/consumed-values.store.ts";
import { missingAuthenticationRequirement } from "../core/second-factors/factor-status.ts";
import type { SignedIn } from "../core/sessions/session.ts";
import { boundTo, type Database } from "../db/open.ts";
import type { EarlierSubmission, FormFailure } from "../html/components/record-form.ts";
import { parsedForm } from "../http/form-body.ts";
import { type ConsoleDeps, requestPath, requireAdministrator, type Visit } from "./page.ts";
import { demandsRecentSignIn } from "./recent-sign-in.ts";

export interface SentForm {
  readonly signedIn: SignedIn;
  readonly values: ReadonlyMap<string, string>;
  /** Every value of a field that may occur more than once. */
  all(name: string): readonly string[];
}

/** Why a form is shown again, and with which status. */
export interface Refusal {
  readonly failure: FormFailure | undefined;
  readonly status: number;
}

/** `expired`: not our form, or too old; `unreadable`: something in it is no text. */
export type Rejection = "expired" | "unreadable";

export type AcceptedForm = SentForm & { readonly outcome: "accepted" };

export type RejectedForm = SentForm & {
  readonly outcome: "rejected";
  /** No failure when the form has waited for a new sign-in and only its secrets must be typed again. */
  readonly refusal: {
    readonly failure: { readonly kind: Rejection } | undefined;
    readonly status: 403 | 200;
  };
};

export type FormOutcome<Accepted = AcceptedForm> =
  | Accepted
  | RejectedForm
  | (SentForm & { readonly outcome: "reauthenticate" });

export type FormDeps = Pick<ConsoleDeps, "database" | "clock" | "browserSession">;

/**
 * A form of the console.
 * @param returnTo where the browser goes after a sign-in, when there is no session at all
 * @throws OAuthError 403 for another site's form, and for users who are not administrators; SignInRequired
 */
export async function acceptForm(
  deps: FormDeps,
  visit: Visit,
  returnTo = requestPath(visit),
): Promise<FormOutcome> {
  requireSameOrigin(deps, visit);
  const signedIn = await requireAdministrator(deps, visit, returnTo);
  return checkForm(deps, visit, signedIn);
}

/** As `acceptForm`, for a form that creates or sends something: see `applyOnce`. */
export async function acceptOneTimeForm(
  deps: FormDeps,
  visit: Visit,
  returnTo?: string,
): Promise<FormOutcome<OneTimeForm>> {
  const form = await acceptForm(deps, visit, returnTo);
  return form.outcome === "accepted" ? requireFreshNonce(deps, visit, form) : form;
}

/** @param isRepeatable of an act that can be repeated, such as sending a mail: each form does it at most once */
export const acceptActionForm = (
  deps: FormDeps,
  visit: Visit,
  { isRepeatable }: { readonly isRepeatable?: true },
): Promise<FormOutcome<AcceptedForm | OneTimeForm>> =>
  isRepeatable ? acceptOneTimeForm(deps, visit) : acceptForm(deps, visit);

/** Comes first: nothing that another site sent is ever shown again with a token of ours. @throws OAuthError 403 */
export function requireSameOrigin({ browserSession }: Pick<FormDeps, "browserSession">, visit: Visit): void {
  if (browserSession.isSameOrigin(visit)) return;
  const description = "The form was sent from another site. Open the page here and fill it in.";
  throw new OAuthError("access_denied", description, { status: 403, reason: "foreign-form" });
}

/** @param rules.secrets fields that never wait in a page: passwords and codes are typed again after a new sign-in */
export async function checkForm(
  deps: FormDeps,
  visit: Visit,
  signedIn: SignedIn,
  rules: { readonly secrets?: readonly string[] } = {},
): Promise<FormOutcome> {
  const { values, allValues, isSanitized } = parsedForm(visit.request);
  const all = (name: string) => allValues.get(name) ?? [values.get(name) ?? []].flat();
  const form: SentForm = { signedIn, values, all };
  if (isSanitized) return reject(form, "unreadable");
  const hasWaited = isReauthenticationToken(deps, visit, form);
  if (!hasWaited && !deps.browserSession.hasValidCsrfToken(visit, values.get("csrf")))
    return reject(form, "expired");
  if (signedIn.portal || !demandsRecentSignIn(visit.request, values)) return { ...form, outcome: "accepted" };
  if ((await missingAuthenticationRequirement(deps.database.query, signedIn, deps.clock())) !== undefined)
    return { ...form, outcome: "reauthenticate" };
  const { secrets = [] } = rules;
  return hasWaited && secrets.length > 0 ? reject(form, undefined) : { ...form, outcome: "accepted" };
}

const reject = (form: SentForm, kind: Rejection | undefined): RejectedForm => ({
  ...form,
  outcome: "rejected",
  refusal: kind === undefined ? { failure: undefined, status: 200 } : { failure: { kind }, status: 403 },
});

/** The field of a form that has waited for a new sign-in. */
export const REAUTHENTICATION_FIELD = "kept";

/** The CSRF token of a waiting form belongs to the old session, a new sign-in starts another: this token fits both. */
const reauthenticationSubject = ({ request }: Visit, { signedIn }: SentForm, at: number): string =>
  `kept:${signedIn.user.id}:${request.url}:${Math.floor(at / HOUR_MS)}`;

/** Bound to the user, the form's address and the hour. */
export const reauthenticationToken = (
  { browserSession, clock }: Pick<FormDeps, "browserSession" | "clock">,
  visit: Visit,
  form: SentForm,
): string => browserSession.reauthenticationToken(visit, reauthenticationSubject(visit, form, clock()));

/** Good for one to two hours. */
function isReauthenticationToken({ browserSession, clock }: FormDeps, visit: Visit, form: SentForm): boolean {
  const now = clock();
  return [now, now - HOUR_MS].some((at) =>
    browserSession.isReauthenticationToken(
      visit,
      reauthenticationSubject(visit, form, at),
      form.values.get(REAUTHENTICATION_FIELD),
    ),
  );
}

export interface SubmissionToken {
  /** As the form carries it, for the next step of a form with several. */
  readonly value: string;
  readonly orgId: string;
  /** The value, and the user who may use it. */
  readonly key: string;
  readonly expiresAt: number;
}

export type OneTimeForm = AcceptedForm & { readonly submissionToken: SubmissionToken };

const HOUR_MS = 3_600_000;
/** A form that is older has expired. */
const TOKEN_LIFETIME_MS = 24 * HOUR_MS;

/** The value of the field `once`. It holds the time, so that it expires before its consumption is forgotten. */
export const newSubmissionToken = ({ clock }: Pick<FormDeps, "clock">): string =>
  `${clock().toString(36)}.${randomBytes(16).toString("base64url")}`;

/** @returns rejected as expired when the form carries no submission token of ours, or an old one */
export function requireFreshNonce(
  deps: Pick<FormDeps, "clock">,
  { organisation }: Visit,
  form: AcceptedForm,
): OneTimeForm | RejectedForm {
  const value = form.values.get("once") ?? "";
  const expiresAt = tokenExpiry(value, deps.clock());
  if (expiresAt === undefined) return reject(form, "expired");
  const { user } = form.signedIn;
  const key = `${user.homeOrgId}:${user.id}:${value}`;
  return { ...form, submissionToken: { value, orgId: organisation.id, key, expiresAt } };
}

function tokenExpiry(token: string, now: number): number | undefined {
  const [, time] = /^([0-9a-z]{1,10})\.[\w-]{22}$/.exec(token) ?? [];
  if (time === undefined) return undefined;
  const createdAt = Number.parseInt(time, 36);
  // Another node's clock may be ahead of this one's.
  const isFresh = createdAt <= now + HOUR_MS && now < createdAt + TOKEN_LIFETIME_MS;
  return isFresh ? createdAt + TOKEN_LIFETIME_MS : undefined;
}

/** Rolls back whatever the second submission did. */
class DuplicateSubmission extends Error {}

/**
 * Consumes the form's submission token in the transaction of what the form does, so that both happen or neither.
 * @param act runs in the transaction, with dependencies bound to it. When it throws, the token can be used again
 */
export async function applyOnce<Deps extends { readonly database: Database }, T>(
  deps: Deps,
  { submissionToken }: OneTimeForm,
  act: (inside: Deps) => Promise<T>,
): Promise<T | "duplicate-submission"> {
  const { orgId, key, expiresAt } = submissionToken;
  try {
    return await deps.database.transaction(async (tx) => {
      // First of all: of two submissions at the same time, the second waits here for the end of the first.
      if (!(await consumeOnce(tx, { orgId, kind: "form", value: key, expiresAt })))
        throw new DuplicateSubmission();
      return act({ ...deps, database: boundTo(deps.database, tx) });
    });
  } catch (error) {
    if (error instanceof DuplicateSubmission) return "duplicate-submission";
    throw error;
  }
}

/** The form is shown again, and says where its first submission's result is. */
export const duplicateSubmission = (earlier: EarlierSubmission = {}): Refusal => ({
  failure: { kind: "sent", ...earlier },
  status: 409,
});
