/** The administrators who may sign in past an enforced connection: all of them, for there are five at most. */
import type { FastifyInstance } from "fastify";
import { selectNames } from "../../../core/audit/audit.store.ts";
import { searchAuditEvents } from "../../../core/audit/search/search.ts";
import {
  type BreakGlassAccount,
  listBreakGlassAccounts,
} from "../../../core/break-glass/break-glass.store.ts";
import { hasEnforcedDomain } from "../../../core/domains/domains.store.ts";
import type { Db } from "../../../db/open.ts";
import { badge } from "../../../html/components/badge.ts";
import { banner } from "../../../html/components/banner.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { emptyState } from "../../../html/components/empty-state.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, type Row, rowLink, table } from "../../../html/components/table.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { loadActorLabels } from "../../../page-kit/actor-names.ts";
import { doneKey, readingRoute } from "../../../page-kit/console-frame.ts";
import type { ConsoleDeps, Visit } from "../../../page-kit/page.ts";
import { breakGlassGrantRoute } from "./grant.route.ts";
import { breakGlassWithdrawRoute } from "./withdraw.route.ts";

export function breakGlassRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  readingRoute(app, deps, "/oauth/manage/:org/break-glass", "breakGlass", showAccounts);
  breakGlassGrantRoute(app, deps);
  breakGlassWithdrawRoute(app, deps);
}

async function showAccounts(deps: ConsoleDeps, visit: Visit, frame: ConsoleFrame): Promise<Html> {
  const { organisation } = visit;
  const { breakGlass: text, frame: frameTexts } = frame.messages.console;
  const db = deps.database.query;
  const accounts = await listBreakGlassAccounts(db, organisation.id);
  const rows = await accountRows(deps, organisation.id, accounts, frame);
  const isEnforced = await hasEnforcedDomain(db, organisation.id);
  const done = doneKey(visit, text.done);
  const empty = emptyState({
    title: text.none,
    text: text.noneText,
    action: grantButton(frame),
    icon: "shield",
  });
  return consoleLayout({
    ...frame,
    title: frameTexts.pages.breakGlass,
    summary: text.summary,
    actions: rows.length === 0 ? undefined : grantButton(frame),
    notice: done && toast(text.done[done], frame),
    body: [
      isEnforced &&
        rows.filter(({ isUsable }) => isUsable).length < 2 &&
        banner("warning", "break-glass-few", text.few.title, text.few.text),
      html`<section class="card" aria-label="${frameTexts.pages.breakGlass}">
${rows.length === 0 ? empty : accountTable(rows, frame)}</section>
`,
    ],
  });
}

const grantButton = ({ messages, consoleUri }: ConsoleFrame): Html =>
  buttonLink({
    ...{ id: "break-glass-grant", uri: consoleUri("/break-glass/grant") },
    ...{ label: messages.console.breakGlass.grant, kind: "primary" },
  });

type AccountRow = Row & { readonly isUsable: boolean };

async function accountRows(
  deps: ConsoleDeps,
  orgId: string,
  accounts: readonly BreakGlassAccount[],
  { messages, consoleUri }: ConsoleFrame,
): Promise<AccountRow[]> {
  const { breakGlass: text, frame } = messages.console;
  const db = deps.database.query;
  const ids = accounts.map(({ userId }) => userId);
  const emails = new Map((await selectNames(db, orgId, "user", ids)).map(({ id, name }) => [id, name]));
  const actors = accounts.map(({ createdBy }) => createdBy);
  const actorName = await loadActorLabels(deps, orgId, actors, messages);
  const lastUses = await findLastUses(db, orgId);
  const rows: AccountRow[] = [];
  for (const { userId, createdAt, createdBy, isAdministrator, isUsable } of accounts) {
    const email = emails.get(userId) ?? userId;
    const usedAt = lastUses.get(userId);
    rows.push({
      id: `break-glass-${userId}`,
      isUsable,
      cells: [
        nameCell({ name: email, uri: consoleUri(`/users/${userId}`) }),
        stateBadge({ isAdministrator, isUsable }, messages),
        usedAt === undefined ? frame.never : relativeTime(usedAt, messages.format.minute),
        html`${relativeTime(createdAt, messages.format.day)}<span class="quiet item-note"><bdi>${actorName(createdBy)}</bdi></span>`,
      ],
      actions: rowLink({
        ...{ id: `withdraw-${userId}`, uri: consoleUri(`/break-glass/${userId}/withdraw`) },
        ...{ text: text.withdraw, label: text.withdrawOf({ email }), isQuestion: true },
      }),
    });
  }
  return rows;
}

/** As the sign-in decides it: see `mayBreakGlass`. */
function stateBadge(
  { isAdministrator, isUsable }: Pick<BreakGlassAccount, "isAdministrator" | "isUsable">,
  { console: { breakGlass } }: Messages,
): Html {
  const { states } = breakGlass;
  if (!isAdministrator) return badge("bad", states.noAdministrator);
  return isUsable ? badge("good", states.ready) : badge("bad", states.noFactor);
}

const MAX_USES = 100;

/** Of the last uses, by whom: they are rare, and each has an email to every administrator. */
async function findLastUses(db: Db, orgId: string): Promise<ReadonlyMap<string, number>> {
  const filter = { actions: ["break-glass.used"] };
  const { events } = await searchAuditEvents(db, orgId, filter, { limit: MAX_USES });
  // The newest come first.
  return new Map(events.toReversed().flatMap(({ target, at }) => (target ? [[target, at]] : [])));
}

function accountTable(rows: readonly AccountRow[], { messages }: ConsoleFrame): Html {
  const { columns, none } = messages.console.breakGlass;
  return table({
    label: messages.console.frame.pages.breakGlass,
    columns: [columns.account, columns.state, columns.lastUse, columns.granted],
    ...{ rows, none, messages },
  });
}
