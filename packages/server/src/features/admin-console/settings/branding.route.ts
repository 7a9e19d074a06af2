/** Name and colour of the organisation: previewed as often as one likes, and saved once it can be read. */
import type { FastifyInstance } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { isAccentColour, isReadableAccent } from "../../../html/accent.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { editForm } from "../../../page-kit/edit-form.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/visit.ts";
import { brandingPage, type TypedBranding } from "./branding.page.ts";
import { settingsRecord } from "./saving.ts";

export function brandingRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  editForm(app, deps, {
    ...settingsRecord,
    path: "/settings/branding",
    // The logo has a form of its own.
    seenIn: typedBranding,
    typedOf: typedBranding,
    read: ({ values }) => ({
      name: (values.get("name") ?? "").slice(0, 300).trim(),
      accentColor: (values.get("accentColor") ?? "").slice(0, 20).trim().toLowerCase(),
    }),
    inWords: (typed) => typed,
    page: (view, { visit: { organisation }, found }) => {
      const { accentColor } = view.typed;
      const { logoUri } = found.settings.branding;
      const isShown = accentColor === "" || isAccentColour(accentColor);
      return brandingPage({
        ...view,
        preview: isShown ? { accentColor: accentColor === "" ? undefined : accentColor, logoUri } : undefined,
        settingsUri: consolePath(organisation, "/settings"),
      });
    },
    again: "preview",
    contentOf: (typed, { messages }) => {
      const fault = colourFault(typed, messages);
      return fault === undefined ? { content: typed } : { faults: { accentColor: fault } };
    },
    keep: async (inside, { name, accentColor }, { visit: { organisation }, acting, found }) => {
      const { accentColor: _, ...others } = found.settings.branding;
      const branding = accentColor === "" ? others : { ...others, accentColor };
      await changeOrganisationSettings(inside, { ...acting, name, settings: { branding } });
      return consolePath(organisation, "/settings?done=branding");
    },
  });
}

const typedBranding = ({ name, settings }: Organisation): TypedBranding => ({
  name,
  accentColor: settings.branding.accentColor ?? "",
});

/** Measured when it is saved: the shades that pages derive from it keep AA on light and on dark. */
function colourFault(
  { accentColor }: TypedBranding,
  {
    console: {
      settings: { faults },
    },
  }: Messages,
): string | undefined {
  if (accentColor === "") return undefined;
  if (!isAccentColour(accentColor)) return faults.colour;
  return isReadableAccent(accentColor) ? undefined : faults.contrast;
}
