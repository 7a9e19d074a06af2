/** Client secrets of an application: adding one, and revoking one. */
import type { FastifyInstance } from "fastify";
import { type Application, type ClientSecret, usesSecrets } from "../../../core/applications/application.ts";
import { createClientSecret, isActive, revokeSecret } from "../../../core/applications/client-secrets.ts";
import type { FormShown, FormView } from "../../../html/components/form-state.ts";
import { type Html, html } from "../../../html/html.ts";
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
  type ConsoleDeps,
  consoleRoute,
  redirectTo,
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
import { applicationPages } from "./application-pages.ts";
import { showSecret } from "./create-application.ts";
import { tabPath } from "./record-tabs.ts";

export function secretsRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/applications/:id/secrets/new", {
    get: showNewSecret,
    post: addSecret,
  });
  confirmationRoute(app, deps, "/oauth/manage/:org/applications/:id/secrets/:secret/end", revocation);
}

/** Days. */
const lifetimes = ["30", "90", "180", "365", "730", "never"];

async function showNewSecret(deps: ConsoleDeps, visit: Visit): Promise<void> {
  requireId(visit);
  const signedIn = await requireRecentAuthentication(deps, visit);
  const application = await applicationPages.require(deps, visit);
  if (!usesSecrets(application))
    return redirectTo(visit, applicationPages.path(visit.organisation, application.id));
  const input = { label: "", lifetime: "365", period: emptyPeriod, others: "later" };
  await showFormPage(deps, visit, signedIn, "applications", { input }, (view) =>
    secretPage(view, application),
  );
}

function secretPage(view: FormView<CredentialInput>, application: Application): Html {
  const { secrets: text } = view.messages.console.applications;
  const breadcrumbs = applicationPages.crumbs(view, application);
  return credentialPage(view, { breadcrumbs, noun: "secret", summary: text.newText }, lifetimes, text);
}

async function addSecret(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const id = requireId(visit);
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const application = await applicationPages.require(deps, visit);
  const input = readCredentialInput(form.values);
  const rerender = (shown: Partial<FormShown<CredentialInput>>) =>
    showFormPage(deps, visit, signedIn, "applications", { input, ...shown }, (view) =>
      secretPage(view, application),
    );
  if (form.outcome === "rejected") return rerender(form.refusal);
  // A public client has no secret, and no form for one.
  if (!usesSecrets(application)) return redirectTo(visit, applicationPages.path(organisation, id));

  const messages = pageMessages(visit, signedIn);
  const { applications, frame } = messages.console;
  const faults = credentialFaults(input, lifetimes, applications.secrets, messages);
  if (faults) return rerender({ state: { faults }, status: 400 });
  const content = credentialContent(input, deps.clock());
  const wanted = { ...auditContext(visit, signedIn), applicationId: id, ...content };
  const created = await applyOnce(deps, form, (inside) => createClientSecret(inside, wanted));
  if (created === "duplicate-submission") {
    const uri = applicationPages.path(organisation, id, "/credentials#secrets");
    const result = { label: applications.secrets.title, uri };
    return rerender(duplicateSubmission({ result, secret: frame.sentBefore.secret.clientSecret }));
  }
  const doneUri = applicationPages.path(organisation, id, tabPath("credentials"));
  await showSecret(deps, visit, signedIn, { application, plaintext: created.plaintext, doneUri });
}

interface PendingSecret {
  readonly application: Application;
  readonly secret: ClientSecret;
}

const revocation: Confirmation<ConsoleDeps, PendingSecret> = {
  ...aboutRecord(applicationPages, ({ application }: PendingSecret) => application),
  backUri: (organisation, { application: { id } }) =>
    applicationPages.path(organisation, id, tabPath("credentials")),
  load: async (deps, organisation, { secret: secretId, ...params }) => {
    const application = await applicationPages.find(deps, organisation, params);
    const secret = application?.secrets.find((one) => one.id === secretId);
    return application && secret && { application, secret };
  },
  isDone: ({ clock }, { secret }) => !isActive(secret, clock()),
  question: ({ console: { applications } }, { application, secret }, _, { clock }) => {
    const { secrets } = applications;
    const isLast = application.secrets.filter((one) => isActive(one, clock())).length === 1;
    return {
      heading: secrets.revokeHeading({ name: secret.label === "" ? secrets.unnamed : secret.label }),
      text: [
        html`<p>${secrets.revokeText({ application: application.name })}</p>`,
        isLast && html`<p>${secrets.revokeLast({ application: application.name })}</p>`,
      ],
      confirm: secrets.revokeConfirm,
      confirmId: "secret-end",
    };
  },
  apply: async (deps, acting, { application, secret: { id } }) =>
    (await revokeSecret(deps, { ...acting, applicationId: application.id, id }))
      ? done("secretEnded")
      : alreadyApplied,
};
