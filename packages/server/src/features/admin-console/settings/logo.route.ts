/** The organisation's logo: a small PNG file, or none. */
import type { FastifyInstance } from "fastify";
import { logoUriOf, pngFault } from "../../../core/organisations/logo.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { acceptFiles } from "../../../http/file-form.ts";
import { editForm } from "../../../page-kit/edit-form.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/visit.ts";
import { logoPage } from "./branding.page.ts";
import { settingsRecord } from "./saving.ts";

/** In a scope of its own: here alone a form may hold a file. */
export function logoRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  void app.register(async (scope) => {
    acceptFiles(scope);
    logoForm(scope, deps);
  });
}

type Typed =
  | { logoUri: string | undefined }
  | { fault: "logo-none" | NonNullable<ReturnType<typeof pngFault>> };

function logoForm(app: FastifyInstance, deps: ConsoleDeps): void {
  editForm(app, deps, {
    ...settingsRecord,
    path: "/settings/logo",
    seenIn: ({ settings }) => ({ logoUri: settings.branding.logoUri }),
    typedOf: ({ settings }): Typed => ({ logoUri: settings.branding.logoUri }),
    read: ({ values }) => (values.has("remove") ? { logoUri: undefined } : readLogo(values.get("logo"))),
    // The page shows the logo that there is, and no browser sends a file again by itself.
    inWords: () => ({}),
    page: (view, { visit: { organisation }, found: { name, settings } }) =>
      logoPage({
        ...view,
        record: { name, logoUri: settings.branding.logoUri },
        settingsUri: consolePath(organisation, "/settings"),
      }),
    contentOf: (typed, { messages }) =>
      "fault" in typed
        ? { faults: { logo: messages.console.settings.faults[typed.fault] } }
        : { content: typed },
    keep: async (inside, { logoUri }, { visit: { organisation }, acting, found }) => {
      const { logoUri: _, ...others } = found.settings.branding;
      const branding = logoUri === undefined ? others : { ...others, logoUri };
      await changeOrganisationSettings(inside, { ...acting, settings: { branding } });
      return consolePath(organisation, `/settings?done=${logoUri === undefined ? "logoRemoved" : "logo"}`);
    },
  });
}

/** @param file as file-form.ts reads it: a `data:` address of whatever type the browser said */
function readLogo(file = ""): Typed {
  const [, base64] = /^data:[^,]*;base64,(.*)$/s.exec(file) ?? [];
  if (base64 === undefined || base64 === "") return { fault: "logo-none" };
  const bytes = Buffer.from(base64, "base64");
  const fault = pngFault(bytes);
  return fault === undefined ? { logoUri: logoUriOf(bytes) } : { fault };
}
