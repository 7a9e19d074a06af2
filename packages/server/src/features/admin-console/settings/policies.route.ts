/** settings/policies: passwords, second factor, confirmed addresses, deleted accounts, sessions, language. */
import type { FastifyInstance } from "fastify";
import type { Outbox } from "../../../core/mail/outbox.ts";
import { type Organisation, secondFactorPolicies } from "../../../core/organisations/organisation.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { languageName } from "../../../html/messages/language-name.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { type Editing, editRoute } from "../../../page-kit/edit-form.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";
import { organisationRecord } from "./organisation-record.ts";
import { type PoliciesInput, policiesPage } from "./policies.page.ts";
import { languageChoices } from "./settings.page.ts";

export interface PoliciesDeps extends ConsoleDeps {
  /** Whether a verification mail can be sent. */
  readonly outbox: Pick<Outbox, "isOpen">;
}

export function policiesRoute(app: FastifyInstance, deps: PoliciesDeps): void {
  editRoute(app, deps, "/oauth/manage/:org/settings/policies", {
    ...organisationRecord,
    version: toInput,
    toInput,
    readInput: ({ values }) => readInput(values),
    toDisplay: (input, { messages }) => toDisplay(input, messages),
    page: policiesPage,
    validate: (input, editing) => validate(deps, input, editing),
    save: async (inside, settings, { visit: { organisation }, acting }) => {
      await changeOrganisationSettings(inside, { ...acting, settings });
      return consolePath(organisation, "/settings?done=policies");
    },
  });
}

const toInput = ({ settings }: Organisation): PoliciesInput => ({
  passwordMinLength: String(settings.passwordMinLength),
  secondFactor: settings.secondFactor,
  requireVerifiedEmail: settings.requireVerifiedEmail,
  allowAccountDeletion: settings.allowAccountDeletion,
  sessionLifetimeSeconds: String(settings.sessionLifetimeSeconds / 60),
  sessionIdleSeconds: String(settings.sessionIdleSeconds / 60),
  defaultLocale: settings.defaultLocale,
});

function readInput(values: ReadonlyMap<string, string>): PoliciesInput {
  const text = (id: keyof PoliciesInput) => (values.get(id) ?? "").trim().slice(0, 20);
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

/** Plain decimals only: not what else JavaScript takes for a number. */
const parseDecimal = (text: string): number =>
  /^\d{1,9}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;

/** The core checks the rest. Refused here: a value that is no choice, and one that would lock out whoever sets it. */
function validate(
  { outbox }: Pick<PoliciesDeps, "outbox">,
  input: PoliciesInput,
  { messages, signedIn }: Editing<Organisation>,
) {
  const { faults: text } = messages.console.settings;
  const secondFactor = secondFactorPolicies.find((one) => one === input.secondFactor);
  const isLanguage = languageChoices.some(({ value }) => value === input.defaultLocale);
  const locksOut = input.requireVerifiedEmail && !signedIn.user.emailVerified && !outbox.isOpen;
  if (!secondFactor || !isLanguage || locksOut)
    return {
      faults: {
        ...(secondFactor ? {} : { secondFactor: text.choice }),
        ...(isLanguage ? {} : { defaultLocale: text.language }),
        ...(locksOut ? { requireVerifiedEmail: text.ownAddress } : {}),
      },
    };
  const content = {
    passwordMinLength: parseDecimal(input.passwordMinLength),
    secondFactor,
    requireVerifiedEmail: input.requireVerifiedEmail,
    allowAccountDeletion: input.allowAccountDeletion,
    sessionLifetimeSeconds: parseDecimal(input.sessionLifetimeSeconds) * 60,
    sessionIdleSeconds: parseDecimal(input.sessionIdleSeconds) * 60,
    defaultLocale: input.defaultLocale,
  };
  return { content };
}

function toDisplay(
  input: PoliciesInput,
  { console: { frame, settings: text } }: Messages,
): Record<string, string> {
  const policy = secondFactorPolicies.find((one) => one === input.secondFactor);
  return {
    ...input,
    secondFactor: policy ? text.secondFactors[policy].label : input.secondFactor,
    requireVerifiedEmail: input.requireVerifiedEmail ? frame.yes : frame.no,
    allowAccountDeletion: input.allowAccountDeletion ? frame.yes : frame.no,
    defaultLocale: languageChoices.some(({ value }) => value === input.defaultLocale)
      ? languageName(input.defaultLocale)
      : input.defaultLocale,
  };
}
