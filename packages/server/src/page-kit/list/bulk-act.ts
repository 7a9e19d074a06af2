/** An act on ticked rows of a list: each by the rule of the single one. */
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { Html } from "../../html/html.ts";
import type { Messages } from "../../html/messages/messages.ts";
import type { Confirmation, Confirmed } from "../confirmation.ts";
import type { auditContext } from "../page.ts";

/** A record that an act is about. */
interface Prepared<Deps> {
  readonly name: string;
  readonly isDone: boolean;
  apply(
    deps: Deps,
    acting: ReturnType<typeof auditContext>,
    confirmed: Confirmed,
  ): ReturnType<Confirmation<Deps, unknown>["apply"]>;
}

export interface BulkAct<Deps> {
  /** Also on the button of the list. */
  readonly label: (messages: Messages) => string;
  readonly question: (messages: Messages, count: number) => { heading: string; text: string };
  /** Of the question: what is the same for all of them. */
  readonly fields?: (messages: Messages) => Html;
  readonly isHarmless?: boolean;
  /** Can't be undone: the organisation's name has to be typed. */
  readonly isPermanent?: boolean;
  /** Takes the record away: red like a permanent one, though its name is asked for nowhere. */
  readonly isRemoval?: boolean;
  /** @returns undefined for a record of another organisation, and one that this can't be done to */
  prepare(
    deps: Deps,
    organisation: Organisation,
    id: string,
    messages: Messages,
  ): Promise<Prepared<Deps> | undefined>;
}

/**
 * The act as the page of one record does it.
 * @param words.name of a record
 */
export const bulkAct = <Deps, Pending>(
  texts: (messages: Messages) => {
    readonly label: string;
    heading(given: { count: number }): string;
    readonly text: string;
  },
  confirmation: Pick<Confirmation<Deps, Pending>, "load" | "isDone" | "apply">,
  name: (pending: Pending, messages: Messages) => string,
  kind: Pick<BulkAct<Deps>, "fields" | "isHarmless" | "isPermanent" | "isRemoval"> = {},
): BulkAct<Deps> => ({
  label: (messages) => texts(messages).label,
  question: (messages, count) => {
    const { heading, text } = texts(messages);
    return { heading: heading({ count }), text };
  },
  prepare: async (deps, organisation, id, messages) => {
    const pending = await confirmation.load(deps, organisation, { id });
    return (
      pending && {
        name: name(pending, messages),
        isDone: confirmation.isDone?.(deps, pending) ?? false,
        apply: (inside, acting, confirmed) => confirmation.apply(inside, acting, pending, confirmed),
      }
    );
  },
  ...kind,
});
