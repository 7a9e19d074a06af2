/** Key pairs of a system account: adding one, and revoking one. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
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
import type { FormShown, FormView } from "../../../html/components/form-state.ts";
import { type Html, html } from "../../../html/html.ts";
import { NotFound } from "../../../http/errors.ts";
import { acceptOneTimeForm, applyOnce, duplicateSubmission } from "../../../page-kit/accept-form.ts";
import {
  alreadyApplied,
  type Confirmation,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import { showFormPage } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  consoleRoute,
  requireId,
  requireRecentAuthentication,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { aboutRecord } from "../../../page-kit/record-pages.ts";
import {
  type CredentialInput,
  credentialContent,
  credentialFaults,
  credentialPage,
  emptyPeriod,
  readCredentialInput,
} from "../credential-form.ts";
import { type AccountsDeps, accountPages, KEYS } from "./account-pages.ts";
import { showKeys } from "./new.route.ts";

export function keysRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/system-accounts/:id/keys/new", {
    get: showNewKey,
    post: addKey,
  });
  confirmationRoute(app, deps, "/oauth/manage/:org/system-accounts/:id/keys/:key/end", revocation);
}

/** Days. */
const lifetimes = ["90", "180", "365", "730", "never"];

async function showNewKey(deps: AccountsDeps, visit: Visit): Promise<void> {
  requireId(visit);
  const signedIn = await requireRecentAuthentication(deps, visit);
  const account = await accountPages.require(deps, visit);
  const input = { label: "", lifetime: "never", period: emptyPeriod, others: "later" };
  await showFormPage(deps, visit, signedIn, "systemAccounts", { input }, (view) => keyPage(view, account));
}

function keyPage(view: FormView<CredentialInput>, account: SystemAccount): Html {
  const { keys: text } = view.messages.console.systemAccounts;
  const breadcrumbs = accountPages.crumbs(view, account);
  return credentialPage(view, { breadcrumbs, noun: "key", summary: text.text }, lifetimes, text);
}

async function addKey(deps: AccountsDeps, visit: Visit): Promise<void> {
  const id = requireId(visit);
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const input = readCredentialInput(form.values);
  const account = await accountPages.require(deps, visit);
  const rerender = (shown: Partial<FormShown<CredentialInput>>) =>
    showFormPage(deps, visit, signedIn, "systemAccounts", { input, ...shown }, (view) =>
      keyPage(view, account),
    );
  if (form.outcome === "rejected") return rerender(form.refusal);

  const messages = pageMessages(visit, signedIn);
  const { frame, systemAccounts } = messages.console;
  const { keys } = systemAccounts;
  const faults = credentialFaults(input, lifetimes, keys, messages);
  if (faults) return rerender({ state: { faults }, status: 400 });
  const wanted = { ...auditContext(visit, signedIn), id, ...credentialContent(input, deps.clock()) };
  const created = await applyOnce(deps, form, (inside) => rotateSystemAccountKey(inside, wanted)).catch(
    rethrowAsNotFound,
  );
  if (created === "duplicate-submission") {
    const result = { label: keys.title, uri: accountPages.path(visit.organisation, id, KEYS) };
    return rerender(duplicateSubmission({ result, secret: frame.sentBefore.secret.keyPair }));
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
  ...aboutRecord(accountPages, ({ account }: PendingKey) => account, KEYS),
  load: async (deps, organisation, { key: publicKey = "", ...params }) => {
    const account = await accountPages.find(deps, organisation, params);
    if (!account || !isUuid(publicKey)) return undefined;
    const keys = await listKeys(deps.database.query, account.orgId, account.id);
    const key = keys.find((one) => one.publicKey === publicKey);
    const active = keys.filter((one) => isKeyActive(one, deps.clock()));
    return key && { account, key, isLast: active.length === 1 && active[0]?.publicKey === publicKey };
  },
  isDone: (_, { key }) => key.revokedAt !== null,
  question: ({ console: { systemAccounts } }, { key, isLast }) => {
    const { keys: text } = systemAccounts;
    return {
      heading: text.endHeading,
      text: html`<p><code>${key.publicKey}</code> <bdi>${key.label}</bdi></p>
<p>${isLast ? text.lastText : text.endText}</p>`,
      confirm: text.end,
      confirmId: "key-end-confirm",
    };
  },
  apply: async (deps, acting, { account, key: { publicKey } }) =>
    (await revokeSystemAccountKey(deps, { ...acting, id: account.id, publicKey }))
      ? done("keyEnded")
      : alreadyApplied,
};
