/** settings/branding: the organisation's sign-in page, with a live preview. Its images have a form of their own. */
import type { FastifyInstance } from "fastify";
import { isRecordName, type Organisation } from "../../../core/organisations/organisation.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { isAccentColour } from "../../../html/accent.ts";
import { type Html, render } from "../../../html/html.ts";
import type { PageFrame, PageOrganisation } from "../../../html/layout.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { stylesheet } from "../../../html/stylesheet.ts";
import { newNonce, sendEmbeddedDocument } from "../../../http/page.ts";
import { checkForm, requireSameOrigin, type SentForm } from "../../../page-kit/accept-form.ts";
import { doneKey, pageMessages, pageOrganisation } from "../../../page-kit/console-frame.ts";
import { type EditForm, editRoute } from "../../../page-kit/edit-form.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  requireAdministrator,
  type Visit,
} from "../../../page-kit/page.ts";
import { brandingPage } from "./branding.page.ts";
import { loadOrganisation, organisationRecord } from "./organisation-record.ts";
import {
  brandingOf,
  readSignInInput,
  type SignInInput,
  signInFaults,
  toSignInInput,
  withoutFaults,
} from "./sign-in-input.ts";

export interface BrandingDeps extends ConsoleDeps {
  /** The sign-in page of an organisation, without anything to press. */
  signInPage(frame: PageFrame, organisation: PageOrganisation): Html;
}

export function brandingRoutes(app: FastifyInstance, deps: BrandingDeps): void {
  editRoute(app, deps, "/oauth/manage/:org/settings/branding", branding);
  consoleRoute(app, deps, "/oauth/manage/:org/settings/branding/preview", {
    get: showSignIn,
    post: showSignIn,
  });
}

/** For the page's frame: the sign-in page as stored, or with what is typed. Nothing is stored. */
async function showSignIn(deps: BrandingDeps, visit: Visit): Promise<void> {
  const isDraft = visit.request.method === "POST";
  if (isDraft) requireSameOrigin(deps, visit);
  const signedIn = await requireAdministrator(
    deps,
    visit,
    consolePath(visit.organisation, "/settings/branding"),
  );
  const form = isDraft && (await checkForm(deps, visit, signedIn));
  const record = await loadOrganisation(deps, visit);
  const frame = {
    messages: pageMessages(visit, signedIn),
    nonce: newNonce(),
    stylesheet: stylesheet.path,
  };
  const shown = form && form.outcome === "accepted" ? withDraft(record, form, frame.messages) : record;
  if (form && form.outcome === "rejected") visit.reply.code(form.refusal.status);
  const page = deps.signInPage(frame, pageOrganisation(shown));
  await sendEmbeddedDocument(visit.reply, render(page), { isOurPage: true });
}

/** What can't be saved isn't shown: it stays as it is. */
function withDraft(
  record: Organisation,
  { values }: Pick<SentForm, "values">,
  messages: Messages,
): Organisation {
  const draft = readSignInInput(values);
  const shown = withoutFaults(draft, toSignInInput(record), signInFaults(draft, messages));
  const { settings } = record;
  return {
    ...record,
    name: isRecordName(draft.name) ? draft.name : record.name,
    settings: { ...settings, branding: brandingOf(shown, settings.branding) },
  };
}

const branding: EditForm<ConsoleDeps, Organisation, SignInInput, SignInInput> = {
  ...organisationRecord,
  current: "signInPage",
  hasFrame: true,
  version: toSignInInput,
  toInput: toSignInInput,
  readInput: ({ values }) => readSignInInput(values),
  toDisplay: (input) => input,
  page: (view, { record, visit }) => {
    const { accentColor } = view.input;
    const isEmpty = accentColor === "";
    const { logoUri } = pageOrganisation(record);
    const shown = { accentColor: isEmpty ? undefined : accentColor, logoUri };
    return brandingPage({
      ...view,
      settings: record.settings,
      logoUri,
      done: doneKey(visit, view.messages.console.settings.done),
      // Asked for by the button: where scripts run, the frame shows it.
      preview:
        visit.request.method === "POST" && (isEmpty || isAccentColour(accentColor)) ? shown : undefined,
    });
  },
  previewButton: "preview",
  validate: (input, { messages }) => {
    const faults = signInFaults(input, messages);
    return Object.keys(faults).length === 0 ? { content: input } : { faults };
  },
  save: async (inside, input, { visit: { organisation }, acting, record }) => {
    const { name } = input;
    const settings = { branding: brandingOf(input, record.settings.branding) };
    await changeOrganisationSettings(inside, { ...acting, name, settings });
    return consolePath(organisation, "/settings/branding?done=branding");
  },
};
