/**
 * What the console's forms and the account's have in common: a form is ours, its sender has proven enough, and what was typed
 * is not lost when they have not.
 */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { lackingProof } from "../core/second-factors/fresh-proof.ts";
import type { SignedIn } from "../core/sessions/session.ts";
import { provePage } from "../html/components/act.page.ts";
import type { ConsoleFrame } from "../html/components/console-layout.ts";
import { formOf } from "../http/form-body.ts";
import { type ConsoleDeps, type ConsoleDoor, show, type Visit } from "./visit.ts";

export interface Submission {
  readonly signedIn: SignedIn;
  /** The first value of each field. */
  readonly values: ReadonlyMap<string, string>;
  /** Something in it was no text. */
  readonly isMended?: boolean;
  /** Every value of a field that may be there more than once. */
  all(name: string): readonly string[];
}

/** Why a form is shown once more before anything is done with it: none of ours or too old; or something in it is no text. */
export type NotTaken = "expired" | "unreadable";

type FormDeps = Pick<ConsoleDeps, "database" | "clock"> & {
  readonly door: Pick<ConsoleDoor, "formBinding" | "isOwnForm" | "isFromHere" | "keptSeal" | "isKeptForm">;
};

interface FormRules {
  /** Who may send it, but for their proof; undefined when the answer has been sent. @throws OAuthError */
  comesIn(): Promise<SignedIn | undefined>;
  /** Shows the form once more with what was typed: 403 when it is none of ours, too old, or no text; or for its secrets to be typed. */
  again(sent: Submission, failure: NotTaken | undefined): Promise<void>;
  /** What a sign-in that is not fresh enough is shown; absent where any sign-in will do. */
  readonly proof?: {
    frame(signedIn: SignedIn): ConsoleFrame | Promise<ConsoleFrame>;
    /** The page that signs in again, beside the one that waits. */
    readonly signInUri: string;
    /** Fields that never wait in a page: passwords and codes, which are typed once more. */
    readonly secrets?: readonly string[];
    /** Fields of ours that were made for the session before, as they wait for the next one. */
    carry?(sent: Submission): Readonly<Record<string, string>>;
  };
}

/**
 * The form of a request, if it may do what it says.
 * @returns undefined when the answer has been sent. @throws OAuthError 403 for another site's
 */
export async function received(
  deps: FormDeps,
  visit: Visit,
  rules: FormRules,
): Promise<Submission | undefined> {
  // First of all: nothing that a stranger's page has sent is ever shown again with a seal of ours.
  if (!deps.door.isFromHere(visit)) throw foreignForm();
  const signedIn = await rules.comesIn();
  if (!signedIn) return undefined;
  const sent = submissionOf(visit, signedIn);
  const { proof } = rules;
  const hasWaited = isKept(deps, visit, sent);
  if (sent.isMended || (!hasWaited && !deps.door.isOwnForm(visit, sent.values.get("csrf")))) {
    await rules.again(sent, sent.isMended ? "unreadable" : "expired");
    return undefined;
  }
  if (!proof) return sent;
  if ((await lackingProof(deps.database.query, signedIn, deps.clock())) !== undefined) {
    await askForProof(deps, visit, sent, proof);
    return undefined;
  }
  if (!hasWaited || (proof.secrets ?? []).length === 0) return sent;
  await rules.again(sent, undefined);
  return undefined;
}

function submissionOf({ request }: Visit, signedIn: SignedIn): Submission {
  const { values, allValues, isMended = false } = formOf(request);
  return {
    signedIn,
    values,
    isMended,
    all: (name) => allValues.get(name) ?? [values.get(name) ?? []].flat(),
  };
}

/** What another site has filled in must not wait here for one press of a button. */
const foreignForm = (): OAuthError =>
  new OAuthError("access_denied", "The form was sent from another site. Open the page here and fill it in.", {
    status: 403,
    reason: "foreign-form",
  });

async function askForProof(
  deps: FormDeps,
  visit: Visit,
  sent: Submission,
  proof: NonNullable<FormRules["proof"]>,
): Promise<void> {
  const { signedIn, values, all } = sent;
  const { signInUri, secrets = [] } = proof;
  const frame = await proof.frame(signedIn);
  const { csrf } = deps.door.formBinding(visit);
  const carried = proof.carry?.(sent) ?? {};
  const left = ["csrf", KEPT, ...secrets, ...Object.keys(carried)];
  const names = [...values.keys()].filter((name) => !left.includes(name));
  const page = provePage({
    ...frame,
    action: visit.request.url,
    kept: [
      { name: "csrf", value: csrf },
      { name: KEPT, value: deps.door.keptSeal(visit, keptFor(visit, signedIn, deps.clock())) },
      ...names.flatMap((name) => all(name).map((value) => ({ name, value }))),
      ...Object.entries(carried).map(([name, value]) => ({ name, value })),
    ],
    hasSecrets: secrets.length > 0,
    signInUri,
  });
  await show(visit, frame, page, 403);
}

/** The field with which a form that has waited for a new sign-in says that it is ours. */
const KEPT = "kept";
const HOUR_MS = 3_600_000;

/**
 * Signing in again makes another session, and the seal of the form that waits is bound to the one before. This one is bound
 * to who waits, to the form's address and to the hour.
 */
const keptFor = ({ request }: Visit, { user }: SignedIn, at: number): string =>
  `kept:${user.id}:${request.url}:${Math.floor(at / HOUR_MS)}`;

/** For one hour at least, and two at most. */
function isKept(deps: FormDeps, visit: Visit, { signedIn, values }: Submission): boolean {
  const now = deps.clock();
  return [now, now - HOUR_MS].some((at) =>
    deps.door.isKeptForm(visit, keptFor(visit, signedIn, at), values.get(KEPT)),
  );
}
