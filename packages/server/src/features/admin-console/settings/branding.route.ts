/** settings/branding: name and accent colour of the organisation, with a preview; settings/logo: a small PNG file, or none. */
import type { FastifyInstance } from "fastify";
import { logoUriOf, pngFault } from "../../../core/organisations/logo.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { isAccentColour, isReadableAccent } from "../../../html/accent.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { acceptFiles } from "../../../http/file-form.ts";
import { type EditForm, editRoute } from "../../../page-kit/edit-form.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";
import { type BrandingInput, brandingPage, logoPage } from "./branding.page.ts";
import { organisationRecord } from "./organisation-record.ts";

export function brandingRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  editRoute(app, deps, "/oauth/manage/:org/settings/branding", branding);
  // In its own scope: the only form that may upload a file.
  void app.register(async (scope) => {
    acceptFiles(scope);
    editRoute(scope, deps, "/oauth/manage/:org/settings/logo", logo);
  });
}

const toInput = ({ name, settings }: Organisation): BrandingInput => ({
  name,
  accentColor: settings.branding.accentColor ?? "",
});

const branding: EditForm<ConsoleDeps, Organisation, BrandingInput, BrandingInput> = {
  ...organisationRecord,
  // The logo has its own form.
  version: toInput,
  toInput,
  readInput: ({ values }) => ({
    name: (values.get("name") ?? "").slice(0, 300).trim(),
    accentColor: (values.get("accentColor") ?? "").slice(0, 20).trim().toLowerCase(),
  }),
  toDisplay: (input) => input,
  page: (view, { record }) => {
    const { accentColor } = view.input;
    const { logoUri } = record.settings.branding;
    const isEmpty = accentColor === "";
    const shown = { accentColor: isEmpty ? undefined : accentColor, logoUri };
    return brandingPage({ ...view, preview: isEmpty || isAccentColour(accentColor) ? shown : undefined });
  },
  previewButton: "preview",
  validate: (input, { messages }) => {
    const fault = colourFault(input, messages);
    return fault === undefined ? { content: input } : { faults: { accentColor: fault } };
  },
  save: async (inside, { name, accentColor }, { visit: { organisation }, acting, record }) => {
    const { accentColor: _, ...others } = record.settings.branding;
    const changed = accentColor === "" ? others : { ...others, accentColor };
    await changeOrganisationSettings(inside, { ...acting, name, settings: { branding: changed } });
    return consolePath(organisation, "/settings?done=branding");
  },
};

/** The shades that pages derive from the colour must reach WCAG AA on light and on dark. */
function colourFault({ accentColor }: BrandingInput, messages: Messages): string | undefined {
  const { faults } = messages.console.settings;
  if (accentColor === "") return undefined;
  if (!isAccentColour(accentColor)) return faults.colour;
  return isReadableAccent(accentColor) ? undefined : faults.contrast;
}

type Logo = { logoUri: string | undefined };
type LogoInput = Logo | { fault: "logo-none" | NonNullable<ReturnType<typeof pngFault>> };

const toLogo = ({ settings }: Organisation): Logo => ({ logoUri: settings.branding.logoUri });

const logo: EditForm<ConsoleDeps, Organisation, LogoInput, Logo> = {
  ...organisationRecord,
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
    return consolePath(organisation, `/settings?done=${logoUri === undefined ? "logoRemoved" : "logo"}`);
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
