/** break-glass/{id}/withdraw. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { selectNames } from "../../../core/audit/audit.store.ts";
import { listBreakGlassAccounts } from "../../../core/break-glass/break-glass.store.ts";
import { InvalidBreakGlass, withdrawBreakGlass } from "../../../core/break-glass/break-glass.ts";
import {
  alreadyApplied,
  type Confirmation,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";

export const breakGlassWithdrawRoute = (app: FastifyInstance, deps: ConsoleDeps): void =>
  confirmationRoute(app, deps, "/oauth/manage/:org/break-glass/:id/withdraw", withdrawal);

interface Holder {
  readonly userId: string;
  readonly email: string;
}

const withdrawal: Confirmation<ConsoleDeps, Holder> = {
  current: "breakGlass",
  backUri: (organisation) => consolePath(organisation, "/break-glass"),
  breadcrumbs: ({ messages, consoleUri }) => [
    { label: messages.console.frame.pages.breakGlass, uri: consoleUri("/break-glass") },
  ],
  load: async ({ database }, { id: orgId }, { id = "" }) => {
    if (!isUuid(id)) return undefined;
    const accounts = await listBreakGlassAccounts(database.query, orgId);
    if (!accounts.some(({ userId }) => userId === id)) return undefined;
    const [user] = await selectNames(database.query, orgId, "user", [id]);
    return { userId: id, email: user?.name ?? id };
  },
  question: ({ console: { breakGlass: text } }, { email }) => ({
    heading: text.withdrawHeading({ email }),
    text: text.withdrawText,
    confirm: text.withdraw,
    confirmId: "withdraw-confirm",
  }),
  apply: async (deps, acting, { userId }, { messages }) => {
    const { faults, refused } = messages.console.breakGlass;
    try {
      return (await withdrawBreakGlass(deps, { ...acting, userId })) ? done("withdrawn") : alreadyApplied;
    } catch (error) {
      if (!(error instanceof InvalidBreakGlass)) throw error;
      return { kind: "refused", title: refused, text: faults[error.code] };
    }
  },
};
