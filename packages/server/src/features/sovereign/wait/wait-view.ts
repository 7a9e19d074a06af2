/** The view of the wait page, shared by its parts. */
import type { HiddenField } from "../../../html/components/form.ts";
import type { Html } from "../../../html/html.ts";
import type { PageApplication, PageFrame, PageOrganisation } from "../../../html/layout.ts";
import type { WaitStatus } from "./wait-status.ts";

export type WaitView = PageFrame & {
  organisation: PageOrganisation;
  application: PageApplication;
  status: WaitStatus;
  /** For the device grant: there is no application in this browser to return to. */
  isForDevice: boolean;
  /** `/oauth/{org}/sovereign/wait/{requestId}`. */
  path: string;
  csrf: string;
  /** Why an answer was not accepted. */
  error?: WaitFailure | undefined;
};

export type WaitFailure = "stale" | "page-too-old";

export type WaitContent = { heading: string; body: Html };

/** The hidden fields of every form on the page. */
export function answerFields({ csrf, status }: Pick<WaitView, "csrf" | "status">): HiddenField[] {
  const { challenge } = status;
  return [
    { name: "csrf", value: csrf },
    ...(challenge ? [{ name: "challengeId", value: challenge.challengeId }] : []),
  ];
}
