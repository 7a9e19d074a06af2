/**
 * Forms that make something, or send a mail, do it once however often they are pressed: each carries a value of its own, which
 * is consumed in the transaction of what it makes. What is refused leaves the value good for the corrected form.
 */
import { randomBytes } from "node:crypto";
import { consumeOnce } from "../core/consumed-values.store.ts";
import type { SignedIn } from "../core/sessions/session.ts";
import { boundTo, type Database } from "../db/open.ts";
import type { FormFailure, SentBefore } from "../html/components/record-form.ts";
import type { Messages } from "../html/messages/messages.ts";
import { readerMessages } from "./reader-language.ts";
import type { NotTaken, Submission } from "./sent-form.ts";
import { submission } from "./submission.ts";
import type { ConsoleDeps, Visit } from "./visit.ts";

const HOUR_MS = 3_600_000;
/** A form that waited for longer is too old. */
const GOOD_MS = 24 * HOUR_MS;

/** For the field `once` of a form that is shown now. It says when that was, so that it is never good after it is forgotten. */
export const newOnce = ({ clock }: Pick<ConsoleDeps, "clock">): string =>
  `${clock().toString(36)}.${randomBytes(16).toString("base64url")}`;

/** @returns when it ends, in milliseconds; undefined for what is no value of ours, or too old */
function endOf(once: string | undefined, now: number): number | undefined {
  const [, time] = /^([0-9a-z]{1,10})\.[\w-]{22}$/.exec(once ?? "") ?? [];
  if (time === undefined) return undefined;
  const madeAt = Number.parseInt(time, 36);
  // Another node's clock may be ahead of this one's.
  return madeAt <= now + HOUR_MS && now < madeAt + GOOD_MS ? madeAt + GOOD_MS : undefined;
}

type OnceDeps = Pick<ConsoleDeps, "database" | "clock">;

/** Within its transaction: nothing of what the second press did stays. */
class PressedAgain extends Error {}

/**
 * @param once as the form has it
 * @param act in the transaction, on the database that it is given
 * @returns undefined when this user has sent the value before. @throws whatever `act` throws: then it is good as before
 */
async function onlyOnce<T>(
  { database }: Pick<OnceDeps, "database">,
  { organisation }: Pick<Visit, "organisation">,
  { user }: SignedIn,
  { once, expiresAt }: { once: string; expiresAt: number },
  act: (inside: Database) => Promise<T>,
): Promise<{ readonly made: T } | undefined> {
  const value = `${user.homeOrgId}:${user.id}:${once}`;
  const consumed = { orgId: organisation.id, kind: "form", value, expiresAt };
  try {
    return await database.transaction(async (tx) => {
      // First of all: of two presses at the same time, the second waits here for the end of the first.
      if (!(await consumeOnce(tx, consumed))) throw new PressedAgain();
      return { made: await act(boundTo(database, tx)) };
    });
  } catch (error) {
    if (error instanceof PressedAgain) return undefined;
    throw error;
  }
}

/** Why a form that makes something is shown once more. */
export interface Refusal {
  readonly failure: FormFailure;
  readonly status: number;
}

export const notTaken = (kind: NotTaken): Refusal => ({ failure: { kind }, status: 403 });

export interface Making extends Submission {
  /** As it came, for the next step of a form that has several. */
  readonly onceValue: string;
  /**
   * @param act makes it, within the database that it is given and nothing else
   * @returns undefined when the form was sent before, and that has been answered. @throws whatever `act` throws
   */
  once<T extends NonNullable<unknown>>(act: (inside: Database) => Promise<T>): Promise<T | undefined>;
}

/**
 * A form that makes something, as `submission` takes others.
 * @param again shows it with what was typed
 * @param before what is said to who has sent it before
 * @returns undefined when the answer has been sent. @throws as `submission`
 */
export async function making(
  deps: ConsoleDeps,
  visit: Visit,
  path: string,
  again: Again,
  before: (messages: Messages) => SentBefore,
): Promise<Making | undefined> {
  const sent = await submission(deps, visit, path, (refused, why) => again(refused, notTaken(why)));
  return sent && goodOnce(deps, visit, sent, again, before);
}

type Again = (sent: Submission, refusal: Refusal) => Promise<void>;

/** The same, of a form that was received already. */
export async function goodOnce(
  deps: OnceDeps,
  visit: Visit,
  sent: Submission,
  again: Again,
  before: (messages: Messages) => SentBefore,
): Promise<Making | undefined> {
  const once = sent.values.get("once") ?? "";
  const expiresAt = endOf(once, deps.clock());
  if (expiresAt === undefined) {
    await again(sent, notTaken("expired"));
    return undefined;
  }
  return {
    ...sent,
    onceValue: once,
    once: async (act) => {
      const first = await onlyOnce(deps, visit, sent.signedIn, { once, expiresAt }, act);
      if (first) return first.made;
      const messages = readerMessages(visit.request, sent.signedIn.user, visit.organisation);
      await again(sent, { failure: { kind: "sent", ...before(messages) }, status: 409 });
      return undefined;
    },
  };
}

/** A form that may be sent as often as one likes, with what it does in one transaction as well. */
export const inTransaction = (
  { database }: Pick<ConsoleDeps, "database">,
  sent: Submission | undefined,
): Pick<Making, "signedIn" | "values" | "all" | "once"> | undefined =>
  sent && { ...sent, once: (act) => database.transaction((tx) => act(boundTo(database, tx))) };
