/** Key pairs of a system account: adding one, and revoking one. */
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
import {
  type FormShown,
  type FormView,
  faultsFailure,
  fieldState,
} from "../../../html/components/form-state.ts";
import { failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { html } from "../../../html/html.ts";
import { NotFound } from "../../../http/errors.ts";
import { acceptOneTimeForm, applyOnce, duplicateSubmission } from "../../../page-kit/accept-form.ts";
import {
  alreadyApplied,
  applied,
  type Confirmation,
  confirmationRoute,
} from "../../../page-kit/confirmation.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import { formView } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  consoleRoute,
  requireId,
  requireRecentAuthentication,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import {
  type AccountsDeps,
  accountCrumbs,
  accountPath,
  findAccount,
  requireAccount,
} from "./account-path.ts";
import { showKeys } from "./new.route.ts";

const DAY_MS = 86_400_000;
const DAY_SECONDS = 86_400;

/** Days. */
const lifetimes = ["90", "180", "365", "730", "never"] as const;
/** Days until the other keys expire; `later`: they stay. */
const overlaps = ["later", "1", "7", "30"] as const;

type KeyInput = { label: string; lifetime: string; others: string };
const emptyInput: KeyInput = { label: "", lifetime: "never", others: "later" };

export function keysRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/system-accounts/:id/keys/new", {
    get: showNewKey,
    post: addKey,
  });
  confirmationRoute(app, deps, "/oauth/manage/:org/system-accounts/:id/keys/:key/end", revocation);
}

async function showNewKey(deps: AccountsDeps, visit: Visit): Promise<void> {
  requireId(visit);
  const signedIn = await requireRecentAuthentication(deps, visit);
  await showForm(deps, visit, signedIn, await requireAccount(deps, visit), { input: emptyInput });
}

async function showForm(
  deps: AccountsDeps,
  visit: Visit,
  signedIn: SignedIn,
  account: SystemAccount,
  shown: FormShown<KeyInput>,
): Promise<void> {
  const view = await formView(deps, visit, signedIn, "systemAccounts", shown);
  const { messages } = view;
  const { keys: text } = messages.console.systemAccounts;
  const labels: Readonly<Record<string, string>> = {
    label: text.label,
    lifetime: text.lifetime,
    others: text.others,
  };
  const failure = view.failure ?? faultsFailure(view.state, (id) => labels[id] ?? id);
  const page = consoleLayout({
    ...view,
    breadcrumbs: accountCrumbs(visit.organisation, account, messages),
    title: text.addTitle,
    summary: text.text,
    notice: failureNotice(failure, messages),
    body: html`<section class="card" aria-label="${text.addTitle}">${recordForm({
      ...view,
      id: "key-form",
      fields: keyFields(view),
      submit: { id: "key-create", label: text.submit },
      cancelUri: accountPath(visit.organisation, account.id),
    })}</section>
`,
  });
  await show(visit, view, page, shown.status);
}

function keyFields({ input, state, messages }: FormView<KeyInput>) {
  const { keys: text } = messages.console.systemAccounts;
  const field = (id: keyof KeyInput, label: string) => ({
    id,
    label,
    value: input[id],
    messages,
    ...fieldState(state, id),
  });
  const choices = (values: readonly string[], days: typeof text.days, other: string) =>
    values.map((value) => ({ value, label: /^\d/.test(value) ? days({ count: Number(value) }) : other }));
  return [
    textField({ ...field("label", text.label), hint: text.labelHint, maxLength: 100, isOptional: true }),
    selectField({
      ...field("lifetime", text.lifetime),
      choices: choices(lifetimes, text.days, text.forever),
    }),
    selectField({ ...field("others", text.others), choices: choices(overlaps, text.inDays, text.later) }),
  ];
}

const readInput = (values: ReadonlyMap<string, string>): KeyInput => ({
  label: (values.get("label") ?? "").trim(),
  lifetime: values.get("lifetime") ?? "",
  others: values.get("others") ?? "",
});

async function addKey(deps: AccountsDeps, visit: Visit): Promise<void> {
  const id = requireId(visit);
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const input = readInput(form.values);
  const account = await requireAccount(deps, visit);
  const rerender = (shown: Partial<FormShown<KeyInput>>) =>
    showForm(deps, visit, signedIn, account, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const { frame, systemAccounts } = pageMessages(visit, signedIn).console;
  const { faults: text, keys } = systemAccounts;
  const { label, lifetime, others } = input;
  const faults = {
    ...(isSecretLabel(label) ? {} : { label: text.label }),
    ...(lifetimes.some((one) => one === lifetime) ? {} : { lifetime: text.choice }),
    ...(overlaps.some((one) => one === others) ? {} : { others: text.choice }),
  };
  if (Object.keys(faults).length > 0) return rerender({ state: { faults }, status: 400 });
  const wanted = {
    ...auditContext(visit, signedIn),
    id,
    label,
    expiresAt: lifetime === "never" ? null : deps.clock() + Number(lifetime) * DAY_MS,
    ...(others === "later" ? {} : { expireOthersInSeconds: Number(others) * DAY_SECONDS }),
  };
  const created = await applyOnce(deps, form, (inside) => rotateSystemAccountKey(inside, wanted)).catch(
    rethrowAsNotFound,
  );
  if (created === "duplicate-submission") {
    const made = { label: keys.title, uri: accountPath(visit.organisation, id, "#account-keys") };
    return rerender(duplicateSubmission({ made, secret: frame.sentBefore.secret.keyPair }));
  }
  await showKeys(deps, visit, signedIn, { account, ...created }, keys.shownTitle);
}

/** The account has been deleted meanwhile. */
function rethrowAsNotFound(error: unknown): never {
  if (error instanceof InvalidSystemAccount && error.code === "unknown-account")
    throw new NotFound("system account");
  throw error;
}

interface PendingKey {
  readonly account: SystemAccount;
  readonly key: SystemAccountKey;
  /** No other key is active. */
  readonly isLast: boolean;
}

const revocation: Confirmation<AccountsDeps, PendingKey> = {
  current: "systemAccounts",
  load: async (deps, organisation, { id = "", key: publicKey = "" }) => {
    const account = await findAccount(deps, organisation, { id });
    if (!account || !isUuid(publicKey)) return undefined;
    const keys = await listKeys(deps.database.query, account.orgId, account.id);
    const key = keys.find((one) => one.publicKey === publicKey);
    const active = keys.filter((one) => isKeyActive(one, deps.clock()));
    return key && { account, key, isLast: active.length === 1 && active[0]?.publicKey === publicKey };
  },
  backUri: (organisation, { account }) => accountPath(organisation, account.id),
  isDone: (_, { key }) => key.revokedAt !== null,
  question: (messages, { account, key, isLast }, organisation) => {
    const { keys: text } = messages.console.systemAccounts;
    return {
      heading: text.endHeading,
      text: html`<p><code>${key.publicKey}</code> <bdi>${key.label}</bdi></p>
<p>${isLast ? text.lastText : text.endText}</p>`,
      confirm: text.end,
      confirmId: "key-end-confirm",
      breadcrumbs: accountCrumbs(organisation, account, messages),
    };
  },
  apply: async (deps, acting, { account, key }, { organisation }) => {
    const revoked = { ...acting, id: account.id, publicKey: key.publicKey };
    if (!(await revokeSystemAccountKey(deps, revoked))) return alreadyApplied;
    return applied(accountPath(organisation, account.id, "?done=keyEnded"));
  },
};
