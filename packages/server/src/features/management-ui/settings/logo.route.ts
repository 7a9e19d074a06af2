/** The organisation's logo: a small PNG file, or none. */
import type { FastifyInstance } from "fastify";
import { lastChangeOf } from "../../../console/actor-names.ts";
import { consoleFrame } from "../../../console/console-frame.ts";
import { seenOf, submission } from "../../../console/submission.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  goTo,
  provenAdministrator,
  show,
  type Visit,
} from "../../../console/visit.ts";
import { logoUriOf, pngFault } from "../../../core/organisations/logo.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormState } from "../../../html/console/form-state.ts";
import type { FormFailure } from "../../../html/console/record-form.ts";
import { acceptFiles } from "../../../http/file-form.ts";
import { logoPage } from "./branding.page.ts";
import { recordOf, saveSettings } from "./saving.ts";

/** In a scope of its own: here alone a form may hold a file. */
export function logoRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  void app.register(async (scope) => {
    acceptFiles(scope);
    consoleRoute(scope, deps, "/settings/logo", {
      get: async (visit) => {
        const signedIn = await provenAdministrator(deps, visit, pathOf(visit));
        if (signedIn) await form(deps, visit, { signedIn });
      },
      post: (visit) => save(deps, visit),
    });
  });
}

const pathOf = ({ organisation }: Visit): string => consolePath(organisation, "/settings/logo");

const members = ({ settings }: Organisation) => ({ logoUri: settings.branding.logoUri });

interface FormShown {
  readonly signedIn: SignedIn;
  readonly state?: FormState;
  readonly failure?: FormFailure;
  readonly status?: number;
}

async function form(deps: ConsoleDeps, visit: Visit, shown: FormShown): Promise<void> {
  const { signedIn, state = {}, failure, status } = shown;
  const frame = await consoleFrame(deps, visit, signedIn, "settings");
  const record = await recordOf(deps, visit);
  const page = logoPage({
    ...frame,
    record: { name: record.name, logoUri: record.settings.branding.logoUri },
    state,
    failure,
    csrf: deps.door.formBinding(visit).csrf,
    seen: seenOf(members(record)),
    action: pathOf(visit),
    settingsUri: consolePath(visit.organisation, "/settings"),
  });
  await show(visit, frame, page, status);
}

async function save(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const sent = await submission(deps, visit, pathOf(visit), ({ signedIn }) =>
    form(deps, visit, { signedIn, failure: { kind: "expired" }, status: 403 }),
  );
  if (!sent) return;
  const { signedIn, values } = sent;
  const { messages } = await consoleFrame(deps, visit, signedIn, "settings");
  const { faults } = messages.console.settings;
  const read = values.has("remove") ? { logoUri: undefined } : readLogo(values.get("logo"));
  if ("fault" in read)
    return form(deps, visit, { signedIn, state: { faults: { logo: faults[read.fault] } }, status: 400 });
  const settings = ({ settings: { branding } }: Organisation) => {
    const { logoUri: _, ...others } = branding;
    return { branding: read.logoUri === undefined ? others : { ...others, logoUri: read.logoUri } };
  };
  const seen = values.get("seen");
  const outcome = await saveSettings(deps, visit, signedIn, { settings, seen, members }, messages);
  const done = read.logoUri === undefined ? "logoRemoved" : "logo";
  if (outcome === "saved") return goTo(visit, consolePath(visit.organisation, `/settings?done=${done}`));
  if (outcome !== "changed") return form(deps, visit, { signedIn, state: outcome, status: 400 });
  const by = await lastChangeOf(deps, visit.organisation.id, visit.organisation.id, messages);
  await form(deps, visit, { signedIn, failure: { kind: "changed", by }, status: 409 });
}

/** @param file as file-form.ts reads it: a `data:` address of whatever type the browser said */
function readLogo(
  file = "",
): { logoUri: string } | { fault: "logo-none" | NonNullable<ReturnType<typeof pngFault>> } {
  const [, base64] = /^data:[^,]*;base64,(.*)$/s.exec(file) ?? [];
  if (base64 === undefined || base64 === "") return { fault: "logo-none" };
  const bytes = Buffer.from(base64, "base64");
  const fault = pngFault(bytes);
  return fault === undefined ? { logoUri: logoUriOf(bytes) } : { fault };
}
