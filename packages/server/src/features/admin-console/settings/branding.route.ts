/** settings/branding: the organisation's sign-in page, with a live preview; settings/logo: a small PNG file, or none. */
import type { FastifyInstance } from "fastify";
import { logoUriOf, pngFault } from "../../../core/organisations/logo.ts";
import { isRecordName, type Organisation } from "../../../core/organisations/organisation.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { isAccentColour } from "../../../html/accent.ts";
import { type Html, render } from "../../../html/html.ts";
import type { PageFrame, PageOrganisation } from "../../../html/layout.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { stylesheet } from "../../../html/stylesheet.ts";
import { acceptFiles } from "../../../http/file-form.ts";
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
import { brandingPage, logoPage } from "./branding.page.ts";
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
  // In its own scope: the only form that may upload a file.
  void app.register(async (scope) => {
    acceptFiles(scope);
    editRoute(scope, deps, "/oauth/manage/:org/settings/logo", logo);
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
  // The logo has its own form.
  version: toSignInInput,
  toInput: toSignInInput,
  readInput: ({ values }) => readSignInInput(values),
  toDisplay: (input) => input,
  page: (view, { record, visit }) => {
    const { accentColor } = view.input;
    const isEmpty = accentColor === "";
    const { logoUri } = record.settings.branding;
    const shown = { accentColor: isEmpty ? undefined : accentColor, logoUri };
    return brandingPage({
      ...view,
      settings: record.settings,
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

type Logo = { logoUri: string | undefined };
type LogoInput = Logo | { fault: "logo-none" | NonNullable<ReturnType<typeof pngFault>> };

const toLogo = ({ settings }: Organisation): Logo => ({ logoUri: settings.branding.logoUri });

const logo: EditForm<ConsoleDeps, Organisation, LogoInput, Logo> = {
  ...organisationRecord,
  current: "signInPage",
  version: toLogo,
  toInput: toLogo,
  readInput: ({ values }) => (values.has("remove") ? { logoUri: undefined } : readLogo(values.get("logo"))),
  // The page shows the present logo, and browsers do not resend a file.
  toDisplay: () => ({}),
  page: (view, { record }) => logoPage({ ...view, record: { name: record.name, ...toLogo(record) } }),
  validate: (input, { messages }) =>
    "fault" in input
      ? { faults: { logo: messages.console.settings.faults[input.fault] } }
      : { content: input },
  save: async (inside, { logoUri }, { visit: { organisation }, acting, record }) => {
    const { logoUri: _, ...others } = record.settings.branding;
    const changed = logoUri === undefined ? others : { ...others, logoUri };
    await changeOrganisationSettings(inside, { ...acting, settings: { branding: changed } });
    return consolePath(
      organisation,
      `/settings/branding?done=${logoUri === undefined ? "logoRemoved" : "logo"}`,
    );
  },
};

/** @param file a `data:` URL of whatever type the browser said (http/file-form.ts) */
function readLogo(file = ""): LogoInput {
  const [, base64 = ""] = /^data:[^,]*;base64,(.*)$/s.exec(file) ?? [];
  if (base64 === "") return { fault: "logo-none" };
  const bytes = Buffer.from(base64, "base64");
  const fault = pngFault(bytes);
  return fault === undefined ? { logoUri: logoUriOf(bytes) } : { fault };
}
