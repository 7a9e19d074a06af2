/** The secrets of an application: another one beside those that work, and the end of one. */
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
import { type FormState, faultsFailure, fieldState } from "../../../html/components/form-state.ts";
import { type FormFailure, failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { html } from "../../../html/html.ts";
import { confirmedActRoute, WasSoAlready } from "../../../page-kit/confirmed-act.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { making, newOnce, type Refusal } from "../../../page-kit/made-once.ts";
import type { Submission } from "../../../page-kit/sent-form.ts";
import {
  actingOn,
  type ConsoleDeps,
  consoleRoute,
  goTo,
  provenAdministrator,
  show,
  type Visit,
} from "../../../page-kit/visit.ts";
import {
  applicationHere,
  applicationPath,
  applicationRest,
  idIn,
  recordCrumbs,
} from "./application-visit.ts";
import { showSecret } from "./new.route.ts";

const REST = "/secrets/new";
const DAY_MS = 86_400_000;
const DAY_SECONDS = 86_400;

/** In days; `never` for one that is ended by hand. */
const lifetimes = ["30", "90", "180", "365", "730", "never"] as const;
/** When the other secrets end; `later` for by hand. */
const overlaps = ["later", "1", "7", "30"] as const;

type Typed = { label: string; lifetime: string; others: string };

const start: Typed = { label: "", lifetime: "365", others: "later" };

export function secretsRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, `/applications/:id${REST}`, {
    get: async (visit) => {
      const path = applicationPath(visit.organisation, idIn(visit), REST);
      const signedIn = await provenAdministrator(deps, visit, path);
      if (!signedIn) return;
      const application = await applicationHere(deps, visit);
      if (usesSecrets(application)) await showForm(deps, visit, signedIn, application, { typed: start });
      else await goTo(visit, applicationPath(visit.organisation, application.id));
    },
    post: (visit) => add(deps, visit),
  });
  endRoute(app, deps);
}

async function showForm(
  deps: ConsoleDeps,
  visit: Visit,
  signedIn: SignedIn,
  application: Application,
  again: { typed: Typed; form?: FormState; failure?: FormFailure; status?: number },
): Promise<void> {
  const frame = await consoleFrame(deps, visit, signedIn, "applications");
  const { messages } = frame;
  const { secrets } = messages.console.applications;
  const { typed, form = {} } = again;
  const field = (id: keyof Typed) => ({ id, value: typed[id], messages, ...fieldState(form, id) });
  const choices = (values: readonly string[], never: string) =>
    values.map((value) => ({
      value,
      label: /\d/.test(value) ? secrets.days({ count: Number(value) }) : never,
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
      choices: choices(lifetimes, secrets.lifetimeNever),
    }),
    selectField({
      ...field("others"),
      label: secrets.others,
      hint: secrets.othersHint,
      choices: choices(overlaps, secrets.othersLater),
    }),
  ];
  const page = consoleLayout({
    ...frame,
    breadcrumbs: recordCrumbs(visit.organisation, application, messages),
    title: secrets.newTitle,
    summary: secrets.newText,
    notice: failureNotice(again.failure ?? faultsFailure(form, () => secrets.label), messages),
    body: html`<section class="card" aria-label="${secrets.newTitle}">${recordForm({
      id: "secret-form",
      action: applicationPath(visit.organisation, application.id, REST),
      csrf: deps.door.formBinding(visit).csrf,
      once: newOnce(deps),
      fields,
      submit: { id: "secret-create", label: secrets.create },
      cancelUri: applicationPath(visit.organisation, application.id),
      messages,
    })}</section>
`,
  });
  await show(visit, frame, page, again.status ?? 200);
}

const typedIn = ({ values }: Submission): Typed => ({
  label: (values.get("label") ?? "").trim(),
  lifetime: values.get("lifetime") ?? "",
  others: values.get("others") ?? "",
});

async function add(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const path = applicationPath(visit.organisation, idIn(visit), REST);
  const again = async (refused: Submission, refusal: Refusal) => {
    const shown = { typed: typedIn(refused), ...refusal };
    await showForm(deps, visit, refused.signedIn, await applicationHere(deps, visit), shown);
  };
  const sent = await making(deps, visit, path, again, ({ console: { frame, applications } }) => ({
    made: {
      label: applications.secrets.title,
      uri: applicationPath(visit.organisation, idIn(visit), "#secrets"),
    },
    secret: frame.sentBefore.secret.clientSecret,
  }));
  if (!sent) return;
  const application = await applicationHere(deps, visit);
  // A public client keeps no secret: there is no form for it.
  if (!usesSecrets(application)) return goTo(visit, applicationPath(visit.organisation, application.id));
  const typed = typedIn(sent);
  const { messages } = await consoleFrame(deps, visit, sent.signedIn, "applications");
  const faults = faultsOf(typed, messages.console.applications.secrets);
  if (Object.keys(faults).length > 0)
    return showForm(deps, visit, sent.signedIn, application, { typed, form: { faults }, status: 400 });
  const wanted = {
    ...actingOn(visit, sent.signedIn),
    applicationId: application.id,
    label: typed.label,
    expiresAt: typed.lifetime === "never" ? null : deps.clock() + Number(typed.lifetime) * DAY_MS,
    ...(typed.others === "later" ? {} : { expireOthersInSeconds: Number(typed.others) * DAY_SECONDS }),
  };
  const made = await sent.once((database) => createClientSecret({ ...deps, database }, wanted));
  if (made) await showSecret(deps, visit, sent.signedIn, { application, plaintext: made.plaintext });
}

function faultsOf(
  { label, lifetime, others }: Typed,
  text: { labelFault: string; choiceFault: string },
): Record<string, string> {
  return {
    ...(isSecretLabel(label) ? {} : { label: text.labelFault }),
    ...(lifetimes.some((one) => one === lifetime) ? {} : { lifetime: text.choiceFault }),
    ...(overlaps.some((one) => one === others) ? {} : { others: text.choiceFault }),
  };
}

function endRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  confirmedActRoute<{ application: Application; secret: ClientSecret }>(app, deps, {
    path: "/applications/:id/secrets/:secret/end",
    current: "applications",
    find: async ({ id: orgId }, { id = "", secret: secretId }) => {
      const application = await findApplication(deps.database.query, orgId, id);
      const secret = application?.secrets.find((one) => one.id === secretId);
      return application && secret && { application, secret };
    },
    overFor: ({ application, secret }) =>
      isActive(secret, deps.clock()) ? undefined : applicationRest(application.id),
    question: (messages, { application, secret }, organisation) => {
      const { secrets } = messages.console.applications;
      const isLast = application.secrets.filter((one) => isActive(one, deps.clock())).length === 1;
      const label = secret.label === "" ? secrets.unnamed : secret.label;
      return {
        heading: secrets.endHeading({ name: label }),
        text: [
          html`<p>${secrets.endText({ application: application.name })}</p>`,
          isLast && html`<p>${secrets.endLast({ application: application.name })}</p>`,
        ],
        confirm: secrets.endConfirm,
        confirmId: "secret-end",
        breadcrumbs: recordCrumbs(organisation, application, messages),
        back: applicationRest(application.id),
      };
    },
    act: async (acting, { application, secret }) => {
      const ended = { ...acting, applicationId: application.id, id: secret.id };
      if (!(await revokeSecret(deps, ended))) throw new WasSoAlready(applicationRest(application.id));
      return applicationRest(application.id, "?done=secretEnded");
    },
  });
}
