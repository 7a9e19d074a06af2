/** settings/branding: the organisation's sign-in page, with a live preview. Its images have a form of their own. */
import type { FastifyInstance } from "fastify";
import { isRecordName, type Organisation } from "../../../core/organisations/organisation.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { isAccentColour } from "../../../html/accent.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { doneKey, pageOrganisation } from "../../../page-kit/console-frame.ts";
import { type EditForm, editRoute } from "../../../page-kit/edit-form.ts";
import { type ConsoleDeps, consolePath, consoleRoute } from "../../../page-kit/page.ts";
import { brandingPage } from "./branding.page.ts";
import { organisationRecord } from "./organisation-record.ts";
import { type SignInPreviewDeps, showSignIn } from "./show-sign-in.ts";
import {
  brandingOf,
  readSignInInput,
  type SignInInput,
  signInFaults,
  toSignInInput,
  withoutFaults,
} from "./sign-in-input.ts";

export function brandingRoutes(app: FastifyInstance, deps: SignInPreviewDeps): void {
  editRoute(app, deps, "/oauth/manage/:org/settings/branding", branding);
  consoleRoute(app, deps, "/oauth/manage/:org/settings/branding/preview", {
    get: (_, visit) => showSignIn(deps, visit, preview),
    post: (_, visit) => showSignIn(deps, visit, preview),
  });
}

function withDraft(
  record: Organisation,
  values: ReadonlyMap<string, string>,
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

const preview = { path: "/settings/branding", withDraft };

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
