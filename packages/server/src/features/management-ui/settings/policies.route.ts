/** The organisation's policies: passwords, second factor, confirmed addresses, sessions, language. */
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
import { type Organisation, secondFactorPolicies } from "../../../core/organisations/organisation.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { differing, type FormState } from "../../../html/console/form-state.ts";
import type { FormFailure } from "../../../html/console/record-form.ts";
import { languageName } from "../../../html/messages/language-name.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { policiesPage, type TypedPolicies } from "./policies.page.ts";
import { recordOf, saveSettings } from "./saving.ts";
import { languageChoices } from "./settings.page.ts";

export function policiesRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/settings/policies", {
    get: async (visit) => {
      const signedIn = await provenAdministrator(deps, visit, pathOf(visit));
      if (!signedIn) return;
      const record = await recordOf(deps, visit);
      await form(deps, visit, { signedIn, record, typed: typedPolicies(record) });
    },
    post: (visit) => save(deps, visit),
  });
}

const pathOf = ({ organisation }: Visit): string => consolePath(organisation, "/settings/policies");

const typedPolicies = ({ settings }: Organisation): TypedPolicies => ({
  passwordMinLength: String(settings.passwordMinLength),
  secondFactor: settings.secondFactor,
  requireVerifiedEmail: settings.requireVerifiedEmail,
  sessionLifetimeSeconds: String(settings.sessionLifetimeSeconds / 60),
  sessionIdleSeconds: String(settings.sessionIdleSeconds / 60),
  defaultLocale: settings.defaultLocale,
});

function readPolicies(values: ReadonlyMap<string, string>): TypedPolicies {
  const text = (id: keyof TypedPolicies) => (values.get(id) ?? "").trim().slice(0, 20);
  return {
    passwordMinLength: text("passwordMinLength"),
    secondFactor: text("secondFactor"),
    requireVerifiedEmail: values.has("requireVerifiedEmail"),
    sessionLifetimeSeconds: text("sessionLifetimeSeconds"),
    sessionIdleSeconds: text("sessionIdleSeconds"),
    defaultLocale: text("defaultLocale"),
  };
}

/** Plain decimals only: a number that JavaScript reads in some other way is none that a person typed. */
const numberOf = (text: string): number => (/^\d{1,9}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN);

/** As the core takes them; what is no choice is told apart here. */
function settingsOf(typed: TypedPolicies, { console: { settings: text } }: Messages) {
  const secondFactor = secondFactorPolicies.find((one) => one === typed.secondFactor);
  const isLanguage = languageChoices.some(({ value }) => value === typed.defaultLocale);
  if (!secondFactor || !isLanguage)
    return {
      faults: {
        ...(secondFactor ? {} : { secondFactor: text.faults.choice }),
        ...(isLanguage ? {} : { defaultLocale: text.faults.language }),
      },
    };
  return {
    passwordMinLength: numberOf(typed.passwordMinLength),
    secondFactor,
    requireVerifiedEmail: typed.requireVerifiedEmail,
    sessionLifetimeSeconds: numberOf(typed.sessionLifetimeSeconds) * 60,
    sessionIdleSeconds: numberOf(typed.sessionIdleSeconds) * 60,
    defaultLocale: typed.defaultLocale,
  };
}

interface FormShown {
  readonly signedIn: SignedIn;
  readonly record: Organisation;
  readonly typed: TypedPolicies;
  readonly state?: FormState;
  readonly failure?: FormFailure;
  readonly seen?: string | undefined;
  readonly status?: number;
}

async function form(deps: ConsoleDeps, visit: Visit, shown: FormShown): Promise<void> {
  const { signedIn, record, typed, state = {}, failure, status } = shown;
  const frame = await consoleFrame(deps, visit, signedIn, "settings");
  const page = policiesPage({
    ...frame,
    typed,
    state,
    failure,
    csrf: deps.door.formBinding(visit).csrf,
    seen: shown.seen ?? seenOf(typedPolicies(record)),
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
    await form(deps, visit, { signedIn, record, typed: readPolicies(values), seen, failure, status: 403 });
  });
  if (!sent) return;
  const { signedIn, values } = sent;
  const typed = readPolicies(values);
  const seen = values.get("seen");
  const again = { signedIn, record: await recordOf(deps, visit), typed, seen };
  const { messages } = await consoleFrame(deps, visit, signedIn, "settings");
  const wanted = settingsOf(typed, messages);
  if ("faults" in wanted) return form(deps, visit, { ...again, state: wanted, status: 400 });
  const change = { settings: () => wanted, seen, members: typedPolicies };
  const outcome = await saveSettings(deps, visit, signedIn, change, messages);
  if (outcome === "saved") return goTo(visit, consolePath(visit.organisation, "/settings?done=policies"));
  if (outcome !== "changed") return form(deps, visit, { ...again, state: outcome, status: 400 });
  const record = await recordOf(deps, visit);
  const isNow = differing(inWords(typed, messages), inWords(typedPolicies(record), messages));
  const by = await lastChangeOf(deps, visit.organisation.id, visit.organisation.id, messages);
  const failure = { kind: "changed", by } as const;
  await form(deps, visit, { signedIn, record, typed, state: { isNow }, failure, status: 409 });
}

/** As the page names the values, for those that differ. */
function inWords(
  typed: TypedPolicies,
  { console: { frame, settings: text } }: Messages,
): Record<string, string> {
  const policy = secondFactorPolicies.find((one) => one === typed.secondFactor);
  return {
    ...typed,
    secondFactor: policy ? text.secondFactors[policy].label : typed.secondFactor,
    requireVerifiedEmail: typed.requireVerifiedEmail ? frame.yes : frame.no,
    defaultLocale: languageChoices.some(({ value }) => value === typed.defaultLocale)
      ? languageName(typed.defaultLocale)
      : typed.defaultLocale,
  };
}
