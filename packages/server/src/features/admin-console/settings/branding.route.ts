/** settings/branding: name and accent colour of the organisation, with a preview. */
import type { FastifyInstance } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { isAccentColour, isReadableAccent } from "../../../html/accent.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { editRoute } from "../../../page-kit/edit-form.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";
import { type BrandingInput, brandingPage } from "./branding.page.ts";
import { organisationRecord } from "./organisation-record.ts";

export function brandingRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  editRoute(app, deps, "/oauth/manage/:org/settings/branding", {
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
      const isColour = accentColor === "" || isAccentColour(accentColor);
      return brandingPage({
        ...view,
        preview: isColour
          ? { accentColor: accentColor === "" ? undefined : accentColor, logoUri }
          : undefined,
      });
    },
    previewButton: "preview",
    validate: (input, { messages }) => {
      const fault = colourFault(input, messages);
      return fault === undefined ? { content: input } : { faults: { accentColor: fault } };
    },
    save: async (inside, { name, accentColor }, { visit: { organisation }, acting, record }) => {
      const { accentColor: _, ...others } = record.settings.branding;
      const branding = accentColor === "" ? others : { ...others, accentColor };
      await changeOrganisationSettings(inside, { ...acting, name, settings: { branding } });
      return consolePath(organisation, "/settings?done=branding");
    },
  });
}

const toInput = ({ name, settings }: Organisation): BrandingInput => ({
  name,
  accentColor: settings.branding.accentColor ?? "",
});

/** The shades that pages derive from the colour must reach WCAG AA on light and on dark. */
function colourFault({ accentColor }: BrandingInput, messages: Messages): string | undefined {
  const { faults } = messages.console.settings;
  if (accentColor === "") return undefined;
  if (!isAccentColour(accentColor)) return faults.colour;
  return isReadableAccent(accentColor) ? undefined : faults.contrast;
}
