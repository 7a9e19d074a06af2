/** settings/policies: passwords, second factor, confirmed addresses, deleted accounts, sessions, language. */
import type { FastifyInstance } from "fastify";
import type { Outbox } from "../../../core/mail/outbox.ts";
import { type Organisation, secondFactorPolicies } from "../../../core/organisations/organisation.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { languageName } from "../../../html/messages/language-name.ts";
import { LOCALES } from "../../../html/messages/messages.ts";
import type { SentForm } from "../../../page-kit/accept-form.ts";
import { type Editing, editRoute } from "../../../page-kit/edit-form.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";
import { readDurationText, toSeconds } from "../../../page-kit/read-fields.ts";
import { organisationRecord } from "./organisation-record.ts";
import { type PoliciesInput, policiesPage } from "./policies.page.ts";

export interface PoliciesDeps extends ConsoleDeps {
  readonly outbox: Pick<Outbox, "isOpen">;
}

export function policiesRoute(app: FastifyInstance, deps: PoliciesDeps): void {
  editRoute(app, deps, "/oauth/manage/:org/settings/policies", {
    ...organisationRecord,
    current: "policies",
    version: toInput,
    toInput,
    readInput,
    toDisplay,
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
  requirePushedAuthorizationRequests: settings.requirePushedAuthorizationRequests,
  sessionLifetimeSeconds: String(settings.sessionLifetimeSeconds),
  sessionIdleSeconds: String(settings.sessionIdleSeconds),
  defaultLocale: settings.defaultLocale,
  auditRetentionMonths: String(settings.auditRetentionMonths),
});

function readInput({ values }: SentForm): PoliciesInput {
  const text = (id: keyof PoliciesInput) => (values.get(id) ?? "").trim().slice(0, 20);
  const seconds = (id: keyof PoliciesInput) => {
    const typed = readDurationText({ values }, id);
    return String(toSeconds(typed) ?? typed.amount).slice(0, 20);
  };
  return {
    passwordMinLength: text("passwordMinLength"),
    secondFactor: text("secondFactor"),
    requireVerifiedEmail: values.has("requireVerifiedEmail"),
    allowAccountDeletion: values.has("allowAccountDeletion"),
    requirePushedAuthorizationRequests: values.has("requirePushedAuthorizationRequests"),
    sessionLifetimeSeconds: seconds("sessionLifetimeSeconds"),
    sessionIdleSeconds: seconds("sessionIdleSeconds"),
    defaultLocale: text("defaultLocale"),
    auditRetentionMonths: text("auditRetentionMonths") || "0",
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
  const faults = {
    ...(secondFactor ? {} : { secondFactor: text.choice }),
    ...(LOCALES.some((one) => one === input.defaultLocale) ? {} : { defaultLocale: text.language }),
    ...(input.requireVerifiedEmail && !signedIn.user.emailVerified && !outbox.isOpen
      ? { requireVerifiedEmail: text.ownAddress }
      : {}),
  };
  if (!secondFactor || Object.keys(faults).length > 0) return { faults };
  return {
    content: {
      ...input,
      secondFactor,
      passwordMinLength: parseDecimal(input.passwordMinLength),
      sessionLifetimeSeconds: parseDecimal(input.sessionLifetimeSeconds),
      sessionIdleSeconds: parseDecimal(input.sessionIdleSeconds),
      auditRetentionMonths: parseDecimal(input.auditRetentionMonths),
    },
  };
}

function toDisplay(
  input: PoliciesInput,
  { messages }: Pick<Editing<Organisation>, "messages">,
): Record<string, string> {
  const { frame, settings: text } = messages.console;
  const policy = secondFactorPolicies.find((one) => one === input.secondFactor);
  const locale = LOCALES.find((one) => one === input.defaultLocale);
  const lifetime = (seconds: string) =>
    /^\d{1,12}$/.test(seconds) ? messages.format.lifetime(Number(seconds)) : seconds;
  return {
    ...input,
    sessionLifetimeSeconds: lifetime(input.sessionLifetimeSeconds),
    sessionIdleSeconds: lifetime(input.sessionIdleSeconds),
    secondFactor: policy ? text.secondFactors[policy].label : input.secondFactor,
    requireVerifiedEmail: input.requireVerifiedEmail ? frame.yes : frame.no,
    allowAccountDeletion: input.allowAccountDeletion ? frame.yes : frame.no,
    requirePushedAuthorizationRequests: input.requirePushedAuthorizationRequests ? frame.yes : frame.no,
    defaultLocale: locale === undefined ? input.defaultLocale : languageName(locale),
  };
}
