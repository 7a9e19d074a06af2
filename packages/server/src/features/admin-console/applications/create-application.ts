/** Creating an application from a form, at most once: with a client secret where its kind starts with one. */
import type { Application } from "../../../core/applications/application.ts";
import { createApplication, type NewApplication } from "../../../core/applications/applications.ts";
import { createWithSecret } from "../../../core/applications/client-secrets.ts";
import {
  type ApplicationKind,
  clientTypeOf,
  settingsOfKind,
  startsWithSecret,
} from "../../../core/applications/kinds.ts";
import { issuerOf } from "../../../core/organisations/organisation.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { shownOncePage } from "../../../html/components/act.page.ts";
import {
  applyOnce,
  duplicateSubmission,
  type OneTimeForm,
  type Refusal,
} from "../../../page-kit/accept-form.ts";
import { consoleFrame, pageMessages } from "../../../page-kit/console-frame.ts";
import { auditContext, type ConsoleDeps, consolePath, show, type Visit } from "../../../page-kit/page.ts";
import { applicationPages } from "./application-pages.ts";

export const initialSettings = (kind: ApplicationKind) => ({
  ...settingsOfKind(kind),
  ...(kind === "native" ? { redirectUris: ["http://127.0.0.1/callback"] } : {}),
});

/** @throws InvalidApplication */
export function createOnce(
  deps: ConsoleDeps,
  visit: Visit,
  form: OneTimeForm,
  kind: ApplicationKind,
  content: Pick<NewApplication, "name" | "settings">,
): Promise<{ application: Application; plaintext?: string } | "duplicate-submission"> {
  const { firstLabel: secretLabel } = pageMessages(visit, form.signedIn).console.applications.secrets;
  const input = { ...auditContext(visit, form.signedIn), ...content, clientType: clientTypeOf[kind] };
  return applyOnce(deps, form, async (inside) =>
    startsWithSecret(kind)
      ? createWithSecret(inside, { ...input, secretLabel })
      : { application: await createApplication(inside, input) },
  );
}

/** The form has already created its application. */
export function duplicateCreation(visit: Visit, signedIn: SignedIn, kind: ApplicationKind): Refusal {
  const { pages, sentBefore } = pageMessages(visit, signedIn).console.frame;
  return duplicateSubmission({
    result: { label: pages.applications, uri: consolePath(visit.organisation, "/applications") },
    secret: startsWithSecret(kind) ? sentBefore.secret.application : undefined,
  });
}

/** With everything that a client's configuration needs. */
export async function showSecret(
  deps: ConsoleDeps,
  visit: Visit,
  signedIn: SignedIn,
  { application, plaintext, doneUri }: { application: Application; plaintext: string; doneUri?: string },
): Promise<void> {
  const { organisation } = visit;
  const frame = await consoleFrame(deps, visit, signedIn, "applications");
  const { secrets, record } = frame.messages.console.applications;
  const page = shownOncePage({
    ...frame,
    breadcrumbs: applicationPages.listCrumbs(frame),
    title: secrets.shownTitle({ name: application.name }),
    text: secrets.shownText,
    values: [
      { id: "issuer", title: record.issuer, lines: issuerOf(deps.baseUrl, organisation.id) },
      { id: "client-id", title: record.clientId, lines: application.id },
      {
        id: "client-secret",
        title: secrets.secret,
        lines: plaintext,
        isSecret: true,
        variable: "SIGNET_OAUTH_CLIENT_SECRET",
      },
    ],
    // A new one goes on where it is put to use.
    doneUri: doneUri ?? consolePath(organisation, `/quickstart/${application.id}`),
  });
  await show(visit, frame, page);
}
