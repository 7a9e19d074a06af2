/** Name and colour of the organisation: previewed as often as one likes, and saved once it can be read. */
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
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { isAccentColour, isReadableAccent } from "../../../html/accent.ts";
import { differing, type FormState } from "../../../html/console/form-state.ts";
import type { FormFailure } from "../../../html/console/record-form.ts";
import { brandingPage, type TypedBranding } from "./branding.page.ts";
import { recordOf, saveSettings } from "./saving.ts";

export function brandingRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/settings/branding", {
    get: async (visit) => {
      const signedIn = await provenAdministrator(deps, visit, pathOf(visit));
      if (!signedIn) return;
      const record = await recordOf(deps, visit);
      await form(deps, visit, { signedIn, record, typed: typedBranding(record) });
    },
    post: (visit) => save(deps, visit),
  });
}

const pathOf = ({ organisation }: Visit): string => consolePath(organisation, "/settings/branding");

const typedBranding = ({ name, settings }: Organisation): TypedBranding => ({
  name,
  accentColor: settings.branding.accentColor ?? "",
});

/** What the form is about, for `seen`: the logo has a form of its own. */
const members = (record: Organisation) => typedBranding(record);

const readBranding = (values: ReadonlyMap<string, string>): TypedBranding => ({
  name: (values.get("name") ?? "").slice(0, 300).trim(),
  accentColor: (values.get("accentColor") ?? "").slice(0, 20).trim().toLowerCase(),
});

interface FormShown {
  readonly signedIn: SignedIn;
  readonly record: Organisation;
  readonly typed: TypedBranding;
  readonly state?: FormState;
  readonly failure?: FormFailure;
  readonly seen?: string | undefined;
  readonly status?: number;
}

async function form(deps: ConsoleDeps, visit: Visit, shown: FormShown): Promise<void> {
  const { signedIn, record, typed, state = {}, failure, status } = shown;
  const frame = await consoleFrame(deps, visit, signedIn, "settings");
  const { accentColor } = typed;
  const { logoUri } = record.settings.branding;
  const isShown = accentColor === "" || isAccentColour(accentColor);
  const page = brandingPage({
    ...frame,
    typed,
    preview: isShown ? { accentColor: accentColor === "" ? undefined : accentColor, logoUri } : undefined,
    state,
    failure,
    csrf: deps.door.formBinding(visit).csrf,
    seen: shown.seen ?? seenOf(members(record)),
    action: pathOf(visit),
    settingsUri: consolePath(visit.organisation, "/settings"),
  });
  await show(visit, frame, page, status);
}

async function save(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const sent = await submission(deps, visit, pathOf(visit), async ({ signedIn, values }) => {
    const record = await recordOf(deps, visit);
    const seen = values.get("seen");
    const failure = { kind: "expired" } as const;
    await form(deps, visit, { signedIn, record, typed: readBranding(values), seen, failure, status: 403 });
  });
  if (!sent) return;
  const { signedIn, values } = sent;
  const typed = readBranding(values);
  const seen = values.get("seen");
  const again = { signedIn, record: await recordOf(deps, visit), typed, seen };
  const { messages } = await consoleFrame(deps, visit, signedIn, "settings");
  const { faults } = messages.console.settings;
  const { accentColor } = typed;
  const colourFault =
    accentColor === ""
      ? undefined
      : isAccentColour(accentColor)
        ? readingFault(accentColor, faults)
        : faults.colour;
  const found = colourFault === undefined ? {} : { faults: { accentColor: colourFault } };
  if (values.has("preview") || colourFault !== undefined)
    return form(deps, visit, {
      ...again,
      state: found,
      ...(colourFault === undefined ? {} : { status: 400 }),
    });
  const settings = ({ settings: { branding } }: Organisation) => {
    const { accentColor: _, ...others } = branding;
    return { branding: accentColor === "" ? others : { ...others, accentColor } };
  };
  const outcome = await saveSettings(
    deps,
    visit,
    signedIn,
    { name: typed.name, settings, seen, members },
    messages,
  );
  if (outcome === "saved") return goTo(visit, consolePath(visit.organisation, "/settings?done=branding"));
  if (outcome !== "changed") return form(deps, visit, { ...again, state: outcome, status: 400 });
  const record = await recordOf(deps, visit);
  const isNow = differing(typed, typedBranding(record));
  const by = await lastChangeOf(deps, visit.organisation.id, visit.organisation.id, messages);
  const failure = { kind: "changed", by } as const;
  await form(deps, visit, { signedIn, record, typed, state: { isNow }, failure, status: 409 });
}

/** Measured when it is saved: the shades that pages derive from it keep AA on light and on dark. */
const readingFault = (colour: string, faults: { contrast: string }): string | undefined =>
  isReadableAccent(colour) ? undefined : faults.contrast;
