/** The keys of a system account: another pair beside those that work, and the end of one. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { isSecretLabel } from "../../../core/applications/client-secrets.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import {
  isKeyActive,
  type SystemAccount,
  type SystemAccountKey,
} from "../../../core/system-accounts/system-account.ts";
import { listKeys } from "../../../core/system-accounts/system-accounts.store.ts";
import {
  InvalidSystemAccount,
  revokeSystemAccountKey,
  rotateSystemAccountKey,
} from "../../../core/system-accounts/system-accounts.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { selectField, textField } from "../../../html/components/fields.ts";
import { type FormState, faultsFailure, fieldState } from "../../../html/components/form-state.ts";
import { type FormFailure, failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { NotFound } from "../../../http/errors.ts";
import { confirmedActRoute, WasSoAlready } from "../../../page-kit/confirmed-act.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { making, newOnce, type Refusal } from "../../../page-kit/made-once.ts";
import type { Submission } from "../../../page-kit/sent-form.ts";
import { actingOn, consoleRoute, provenAdministrator, show, type Visit } from "../../../page-kit/visit.ts";
import {
  type AccountsDeps,
  accountCrumbs,
  accountHere,
  accountPath,
  accountRest,
  findAccount,
  idIn,
} from "./account-visit.ts";
import { showKeys } from "./new.route.ts";

const REST = "/keys/new";
const DAY_MS = 86_400_000;
const DAY_SECONDS = 86_400;

/** In days; `never` for one that is ended by hand. */
const lifetimes = ["90", "180", "365", "730", "never"] as const;
/** When the other keys end, in days; `later` for by hand. */
const overlaps = ["later", "1", "7", "30"] as const;

type Typed = { label: string; lifetime: string; others: string };
const start: Typed = { label: "", lifetime: "never", others: "later" };

export function keysRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  consoleRoute(app, deps, `/system-accounts/:id${REST}`, {
    get: async (visit) => {
      const signedIn = await provenAdministrator(deps, visit, ownPath(visit));
      if (signedIn) await form(deps, visit, signedIn, { typed: start });
    },
    post: (visit) => add(deps, visit),
  });
  endRoute(app, deps);
}

const ownPath = (visit: Visit): string => accountPath(visit.organisation, idIn(visit), REST);

interface Shown {
  readonly typed: Typed;
  readonly state?: FormState;
  readonly failure?: FormFailure;
  readonly status?: number;
}

async function form(deps: AccountsDeps, visit: Visit, signedIn: SignedIn, shown: Shown): Promise<void> {
  const { typed, state = {}, status } = shown;
  const account = await accountHere(deps, visit);
  const frame = await consoleFrame(deps, visit, signedIn, "systemAccounts");
  const { messages } = frame;
  const { keys: text } = messages.console.systemAccounts;
  const labels: Readonly<Record<string, string>> = {
    label: text.label,
    lifetime: text.lifetime,
    others: text.others,
  };
  const failure = shown.failure ?? faultsFailure(state, (id) => labels[id] ?? id);
  const page = consoleLayout({
    ...frame,
    breadcrumbs: accountCrumbs(visit.organisation, account, messages),
    title: text.addTitle,
    summary: text.text,
    notice: failureNotice(failure, messages),
    body: html`<section class="card" aria-label="${text.addTitle}">${recordForm({
      id: "key-form",
      action: ownPath(visit),
      csrf: deps.door.formBinding(visit).csrf,
      once: newOnce(deps),
      fields: fields(typed, state, messages),
      submit: { id: "key-create", label: text.submit },
      cancelUri: accountPath(visit.organisation, account.id),
      messages,
    })}</section>
`,
  });
  await show(visit, frame, page, status);
}

function fields(typed: Typed, state: FormState, messages: Messages) {
  const { keys: text } = messages.console.systemAccounts;
  const field = (id: keyof Typed, label: string) => ({
    id,
    label,
    value: typed[id],
    messages,
    ...fieldState(state, id),
  });
  const choices = (values: readonly string[], days: typeof text.days, word: string) =>
    values.map((value) => ({ value, label: /^\d/.test(value) ? days({ count: Number(value) }) : word }));
  return [
    textField({ ...field("label", text.label), hint: text.labelHint, maxLength: 100, isOptional: true }),
    selectField({
      ...field("lifetime", text.lifetime),
      choices: choices(lifetimes, text.days, text.forever),
    }),
    selectField({ ...field("others", text.others), choices: choices(overlaps, text.inDays, text.later) }),
  ];
}

async function add(deps: AccountsDeps, visit: Visit): Promise<void> {
  const read = (values: ReadonlyMap<string, string>): Typed => ({
    label: (values.get("label") ?? "").trim(),
    lifetime: values.get("lifetime") ?? "",
    others: values.get("others") ?? "",
  });
  const again = ({ signedIn, values }: Submission, refusal: Refusal) =>
    form(deps, visit, signedIn, { typed: read(values), ...refusal });
  const sent = await making(deps, visit, ownPath(visit), again, ({ console: { frame, systemAccounts } }) => ({
    made: {
      label: systemAccounts.keys.title,
      uri: accountPath(visit.organisation, idIn(visit), "#account-keys"),
    },
    secret: frame.sentBefore.secret.keyPair,
  }));
  if (!sent) return;
  const { signedIn } = sent;
  const typed = read(sent.values);
  const account = await accountHere(deps, visit);
  const { messages } = await consoleFrame(deps, visit, signedIn, "systemAccounts");
  const { faults: text, keys } = messages.console.systemAccounts;
  const faults = {
    ...(isSecretLabel(typed.label) ? {} : { label: text.label }),
    ...(lifetimes.some((one) => one === typed.lifetime) ? {} : { lifetime: text.choice }),
    ...(overlaps.some((one) => one === typed.others) ? {} : { others: text.choice }),
  };
  if (Object.keys(faults).length > 0)
    return form(deps, visit, signedIn, { typed, state: { faults }, status: 400 });
  const { label, lifetime, others } = typed;
  const wanted = {
    ...actingOn(visit, signedIn),
    id: account.id,
    label,
    expiresAt: lifetime === "never" ? null : deps.clock() + Number(lifetime) * DAY_MS,
    ...(others === "later" ? {} : { expireOthersInSeconds: Number(others) * DAY_SECONDS }),
  };
  const made = await sent
    .once((database) => rotateSystemAccountKey({ ...deps, database }, wanted))
    .catch((error: unknown) => {
      // Deleted meanwhile.
      if (error instanceof InvalidSystemAccount && error.code === "unknown-account")
        throw new NotFound("system account");
      throw error;
    });
  if (made) await showKeys(deps, visit, signedIn, { account, ...made }, keys.shownTitle);
}

interface Found {
  readonly account: SystemAccount;
  readonly key: SystemAccountKey;
  /** No other one works. */
  readonly isLast: boolean;
}

function endRoute(app: FastifyInstance, deps: AccountsDeps): void {
  confirmedActRoute<Found>(app, deps, {
    path: "/system-accounts/:id/keys/:key/end",
    current: "systemAccounts",
    find: async (organisation, { id, key: publicKey = "" }) => {
      const account = await findAccount(deps, organisation, id);
      if (!account || !isUuid(publicKey)) return undefined;
      const keys = await listKeys(deps.database.query, account.orgId, account.id);
      const key = keys.find((one) => one.publicKey === publicKey);
      const active = keys.filter((one) => isKeyActive(one, deps.clock()));
      return key && { account, key, isLast: active.length === 1 && active[0]?.publicKey === publicKey };
    },
    overFor: ({ account, key }) => (key.revokedAt === null ? undefined : accountRest(account.id)),
    question: (messages, { account, key, isLast }, organisation) => {
      const { keys: text } = messages.console.systemAccounts;
      return {
        heading: text.endHeading,
        text: html`<p><code>${key.publicKey}</code> <bdi>${key.label}</bdi></p>
<p>${isLast ? text.lastText : text.endText}</p>`,
        confirm: text.end,
        confirmId: "key-end-confirm",
        breadcrumbs: accountCrumbs(organisation, account, messages),
        back: accountRest(account.id),
      };
    },
    act: async (acting, { account, key }) => {
      const ended = { ...acting, id: account.id, publicKey: key.publicKey };
      if (!(await revokeSystemAccountKey(deps, ended))) throw new WasSoAlready(accountRest(account.id));
      return accountRest(account.id, "?done=keyEnded");
    },
  });
}
