/** Client secrets of an application: adding one, and revoking one. */
import type { FastifyInstance } from "fastify";
import { type Application, type ClientSecret, usesSecrets } from "../../../core/applications/application.ts";
import { findApplication } from "../../../core/applications/applications.store.ts";
import {
  createClientSecret,
  isActive,
  isSecretLabel,
  revokeSecret,
} from "../../../core/applications/client-secrets.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { selectField, textField } from "../../../html/components/fields.ts";
import { type FormShown, faultsFailure, fieldState } from "../../../html/components/form-state.ts";
import { failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { html } from "../../../html/html.ts";
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
  type ConsoleDeps,
  consoleRoute,
  redirectTo,
  requireId,
  requireRecentAuthentication,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { applicationPath, recordCrumbs, requireApplication } from "./application-path.ts";
import { showSecret } from "./new.route.ts";

const DAY_MS = 86_400_000;
const DAY_SECONDS = 86_400;

/** Days. */
const lifetimes = ["30", "90", "180", "365", "730", "never"] as const;
/** Days until the other secrets expire; `later`: they stay. */
const overlaps = ["later", "1", "7", "30"] as const;

type SecretInput = { label: string; lifetime: string; others: string };

const emptyInput: SecretInput = { label: "", lifetime: "365", others: "later" };

export function secretsRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/applications/:id/secrets/new", {
    get: showNewSecret,
    post: addSecret,
  });
  confirmationRoute(app, deps, "/oauth/manage/:org/applications/:id/secrets/:secret/end", revocation);
}

async function showNewSecret(deps: ConsoleDeps, visit: Visit): Promise<void> {
  requireId(visit);
  const signedIn = await requireRecentAuthentication(deps, visit);
  const application = await requireApplication(deps, visit);
  if (!usesSecrets(application))
    return redirectTo(visit, applicationPath(visit.organisation, application.id));
  await showForm(deps, visit, signedIn, application, { input: emptyInput });
}

async function showForm(
  deps: ConsoleDeps,
  visit: Visit,
  signedIn: SignedIn,
  application: Application,
  shown: FormShown<SecretInput>,
): Promise<void> {
  const view = await formView(deps, visit, signedIn, "applications", shown);
  const { input, state, failure, messages } = view;
  const { secrets } = messages.console.applications;
  const field = (id: keyof SecretInput) => ({ id, value: input[id], messages, ...fieldState(state, id) });
  const choices = (values: readonly string[], never: string, after: typeof secrets.days) =>
    values.map((value) => ({
      value,
      label: /\d/.test(value) ? after({ count: Number(value) }) : never,
    }));
  const fields = [
    textField({
      ...field("label"),
      label: secrets.label,
      hint: secrets.labelHint,
      maxLength: 100,
      isOptional: true,
    }),
    selectField({
      ...field("lifetime"),
      label: secrets.lifetime,
      hint: secrets.lifetimeHint,
      choices: choices(lifetimes, secrets.lifetimeNever, secrets.days),
    }),
    selectField({
      ...field("others"),
      label: secrets.existing,
      hint: secrets.existingHint,
      choices: choices(overlaps, secrets.existingKeep, secrets.existingExpire),
    }),
  ];
  const page = consoleLayout({
    ...view,
    breadcrumbs: recordCrumbs(visit.organisation, application, messages),
    title: secrets.newTitle,
    summary: secrets.newText,
    notice: failureNotice(failure ?? faultsFailure(state, () => secrets.label), messages),
    body: html`<section class="card" aria-label="${secrets.newTitle}">${recordForm({
      ...view,
      id: "secret-form",
      fields,
      submit: { id: "secret-create", label: secrets.create },
      cancelUri: applicationPath(visit.organisation, application.id),
    })}</section>
`,
  });
  await show(visit, view, page, shown.status);
}

async function addSecret(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const id = requireId(visit);
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const application = await requireApplication(deps, visit);
  const input = readInput(form.values);
  const rerender = (shown: Partial<FormShown<SecretInput>>) =>
    showForm(deps, visit, signedIn, application, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);
  // A public client has no secret, and no form for one.
  if (!usesSecrets(application)) return redirectTo(visit, applicationPath(organisation, id));

  const { frame, applications } = pageMessages(visit, signedIn).console;
  const faults = findFaults(input, applications.secrets);
  if (Object.keys(faults).length > 0) return rerender({ state: { faults }, status: 400 });
  const wanted = {
    ...auditContext(visit, signedIn),
    applicationId: id,
    label: input.label,
    expiresAt: input.lifetime === "never" ? null : deps.clock() + Number(input.lifetime) * DAY_MS,
    ...(input.others === "later" ? {} : { expireOthersInSeconds: Number(input.others) * DAY_SECONDS }),
  };
  const created = await applyOnce(deps, form, (inside) => createClientSecret(inside, wanted));
  if (created === "duplicate-submission") {
    const made = { label: applications.secrets.title, uri: applicationPath(organisation, id, "#secrets") };
    return rerender(duplicateSubmission({ made, secret: frame.sentBefore.secret.clientSecret }));
  }
  await showSecret(deps, visit, signedIn, { application, plaintext: created.plaintext });
}

const readInput = (values: ReadonlyMap<string, string>): SecretInput => ({
  label: (values.get("label") ?? "").trim(),
  lifetime: values.get("lifetime") ?? "",
  others: values.get("others") ?? "",
});

function findFaults(
  { label, lifetime, others }: SecretInput,
  text: { labelFault: string; choiceFault: string },
): Record<string, string> {
  return {
    ...(isSecretLabel(label) ? {} : { label: text.labelFault }),
    ...(lifetimes.some((one) => one === lifetime) ? {} : { lifetime: text.choiceFault }),
    ...(overlaps.some((one) => one === others) ? {} : { others: text.choiceFault }),
  };
}

const revocation: Confirmation<ConsoleDeps, { application: Application; secret: ClientSecret }> = {
  current: "applications",
  load: async ({ database }, { id: orgId }, { id = "", secret: secretId }) => {
    const application = await findApplication(database.query, orgId, id);
    const secret = application?.secrets.find((one) => one.id === secretId);
    return application && secret && { application, secret };
  },
  backUri: (organisation, { application }) => applicationPath(organisation, application.id),
  isDone: ({ clock }, { secret }) => !isActive(secret, clock()),
  question: (messages, { application, secret }, organisation, { clock }) => {
    const { secrets } = messages.console.applications;
    const isLast = application.secrets.filter((one) => isActive(one, clock())).length === 1;
    const label = secret.label === "" ? secrets.unnamed : secret.label;
    return {
      heading: secrets.revokeHeading({ name: label }),
      text: [
        html`<p>${secrets.revokeText({ application: application.name })}</p>`,
        isLast && html`<p>${secrets.revokeLast({ application: application.name })}</p>`,
      ],
      confirm: secrets.revokeConfirm,
      confirmId: "secret-end",
      breadcrumbs: recordCrumbs(organisation, application, messages),
    };
  },
  apply: async (deps, acting, { application, secret }, { organisation }) => {
    const revoked = { ...acting, applicationId: application.id, id: secret.id };
    if (!(await revokeSecret(deps, revoked))) return alreadyApplied;
    return applied(applicationPath(organisation, application.id, "?done=secretEnded"));
  },
};
