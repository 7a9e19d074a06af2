/** The organisation's policies: passwords, second factor, confirmed addresses, deleted accounts, sessions, language. */
import type { FastifyInstance } from "fastify";
import type { Outbox } from "../../../core/mail/outbox.ts";
import { type Organisation, secondFactorPolicies } from "../../../core/organisations/organisation.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { languageName } from "../../../html/messages/language-name.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { type Editing, editForm } from "../../../page-kit/edit-form.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/visit.ts";
import { policiesPage, type TypedPolicies } from "./policies.page.ts";
import { settingsRecord } from "./saving.ts";
import { languageChoices } from "./settings.page.ts";

export interface PoliciesDeps extends ConsoleDeps {
  /** Whether mail can be sent, as it is to confirm an address. */
  readonly outbox: Pick<Outbox, "isOpen">;
}

export function policiesRoute(app: FastifyInstance, deps: PoliciesDeps): void {
  editForm(app, deps, {
    ...settingsRecord,
    path: "/settings/policies",
    seenIn: typedPolicies,
    typedOf: typedPolicies,
    read: ({ values }) => readPolicies(values),
    inWords: (typed, { messages }) => inWords(typed, messages),
    page: (view, { visit: { organisation } }) =>
      policiesPage({ ...view, settingsUri: consolePath(organisation, "/settings") }),
    contentOf: (typed, at) => settingsOf(deps, typed, at),
    keep: async (inside, settings, { visit: { organisation }, acting }) => {
      await changeOrganisationSettings(inside, { ...acting, settings });
      return consolePath(organisation, "/settings?done=policies");
    },
  });
}

const typedPolicies = ({ settings }: Organisation): TypedPolicies => ({
  passwordMinLength: String(settings.passwordMinLength),
  secondFactor: settings.secondFactor,
  requireVerifiedEmail: settings.requireVerifiedEmail,
  allowAccountDeletion: settings.allowAccountDeletion,
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
    allowAccountDeletion: values.has("allowAccountDeletion"),
    sessionLifetimeSeconds: text("sessionLifetimeSeconds"),
    sessionIdleSeconds: text("sessionIdleSeconds"),
    defaultLocale: text("defaultLocale"),
  };
}

/** Plain decimals only: a number that JavaScript reads in some other way is none that a person typed. */
const numberOf = (text: string): number => (/^\d{1,9}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN);

/** As the core takes them; what is no choice, and what would shut out whoever chooses it, is told apart here. */
function settingsOf(
  { outbox }: Pick<PoliciesDeps, "outbox">,
  typed: TypedPolicies,
  { messages, signedIn }: Editing<Organisation>,
) {
  const { faults: text } = messages.console.settings;
  const secondFactor = secondFactorPolicies.find((one) => one === typed.secondFactor);
  const isLanguage = languageChoices.some(({ value }) => value === typed.defaultLocale);
  const shutsOut = typed.requireVerifiedEmail && !signedIn.user.emailVerified && !outbox.isOpen;
  if (!secondFactor || !isLanguage || shutsOut)
    return {
      faults: {
        ...(secondFactor ? {} : { secondFactor: text.choice }),
        ...(isLanguage ? {} : { defaultLocale: text.language }),
        ...(shutsOut ? { requireVerifiedEmail: text.ownAddress } : {}),
      },
    };
  const content = {
    passwordMinLength: numberOf(typed.passwordMinLength),
    secondFactor,
    requireVerifiedEmail: typed.requireVerifiedEmail,
    allowAccountDeletion: typed.allowAccountDeletion,
    sessionLifetimeSeconds: numberOf(typed.sessionLifetimeSeconds) * 60,
    sessionIdleSeconds: numberOf(typed.sessionIdleSeconds) * 60,
    defaultLocale: typed.defaultLocale,
  };
  return { content };
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
    allowAccountDeletion: typed.allowAccountDeletion ? frame.yes : frame.no,
    defaultLocale: languageChoices.some(({ value }) => value === typed.defaultLocale)
      ? languageName(typed.defaultLocale)
      : typed.defaultLocale,
  };
}
