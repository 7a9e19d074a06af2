/** What the wait page is made of, and what its parts share. */
import type { HiddenField } from "../../../html/components/form.ts";
import type { Html } from "../../../html/html.ts";
import type { PageApplication, PageFrame, PageOrganisation } from "../../../html/layout.ts";
import type { WaitStatus } from "./wait-status.ts";

export type WaitView = PageFrame & {
  organisation: PageOrganisation;
  application: PageApplication;
  status: WaitStatus;
  /** A device waits, not an application in this browser: there is nowhere to go back to. */
  isForDevice: boolean;
  /** `/oauth/{org}/sovereign/wait/{requestId}`; the other addresses lie below it. */
  path: string;
  csrf: string;
  /** What became of an answer that was not taken. */
  error?: WaitFailure | undefined;
};

export type WaitFailure = "stale" | "page-too-old";

/** A state's heading, and what a person reads and does below it. */
export type ShownAs = { heading: string; body: Html };

/** What every form of the page carries. */
export function answerFields({ csrf, status }: Pick<WaitView, "csrf" | "status">): HiddenField[] {
  const { challenge } = status;
  return [
    { name: "csrf", value: csrf },
    ...(challenge ? [{ name: "challengeId", value: challenge.challengeId }] : []),
  ];
}
