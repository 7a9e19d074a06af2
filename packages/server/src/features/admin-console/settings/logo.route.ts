/** settings/logo: a small PNG file, or none. */
import type { FastifyInstance } from "fastify";
import { logoUriOf, pngFault } from "../../../core/organisations/logo.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { acceptFiles } from "../../../http/file-form.ts";
import { editRoute } from "../../../page-kit/edit-form.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";
import { logoPage } from "./branding.page.ts";
import { organisationRecord } from "./organisation-record.ts";

/** In its own scope: the only form that may upload a file. */
export function logoRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  void app.register(async (scope) => {
    acceptFiles(scope);
    logoForm(scope, deps);
  });
}

type LogoInput =
  | { logoUri: string | undefined }
  | { fault: "logo-none" | NonNullable<ReturnType<typeof pngFault>> };

function logoForm(app: FastifyInstance, deps: ConsoleDeps): void {
  editRoute(app, deps, "/oauth/manage/:org/settings/logo", {
    ...organisationRecord,
    version: ({ settings }) => ({ logoUri: settings.branding.logoUri }),
    toInput: ({ settings }): LogoInput => ({ logoUri: settings.branding.logoUri }),
    readInput: ({ values }) => (values.has("remove") ? { logoUri: undefined } : readLogo(values.get("logo"))),
    // The page shows the present logo, and browsers do not resend a file.
    toDisplay: () => ({}),
    page: (view, { record: { name, settings } }) =>
      logoPage({
        ...view,
        record: { name, logoUri: settings.branding.logoUri },
      }),
    validate: (input, { messages }) =>
      "fault" in input
        ? { faults: { logo: messages.console.settings.faults[input.fault] } }
        : { content: input },
    save: async (inside, { logoUri }, { visit: { organisation }, acting, record }) => {
      const { logoUri: _, ...others } = record.settings.branding;
      const branding = logoUri === undefined ? others : { ...others, logoUri };
      await changeOrganisationSettings(inside, { ...acting, settings: { branding } });
      return consolePath(organisation, `/settings?done=${logoUri === undefined ? "logoRemoved" : "logo"}`);
    },
  });
}

/** @param file a `data:` URL of whatever type the browser said (http/file-form.ts) */
function readLogo(file = ""): LogoInput {
  const [, base64] = /^data:[^,]*;base64,(.*)$/s.exec(file) ?? [];
  if (base64 === undefined || base64 === "") return { fault: "logo-none" };
  const bytes = Buffer.from(base64, "base64");
  const fault = pngFault(bytes);
  return fault === undefined ? { logoUri: logoUriOf(bytes) } : { fault };
}
