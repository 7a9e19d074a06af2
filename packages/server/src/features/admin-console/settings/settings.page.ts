/** The organisation's settings. */
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { avatar } from "../../../html/components/avatar.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { codeBlock } from "../../../html/components/code-block.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { copyField, copyStatus } from "../../../html/components/copy-field.ts";
import { lastChangeLine } from "../../../html/components/record-form.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Html, html } from "../../../html/html.ts";
import { languageName } from "../../../html/messages/language-name.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { pageOrganisation } from "../../../page-kit/console-frame.ts";
import { accentOrDefault, signInPreview } from "./sign-in-preview.ts";

export type SettingsView = ConsoleFrame & {
  record: Organisation;
  issuer: string;
  devicesUri: string;
  lastChange: { who: string; at: number } | undefined;
  done: keyof Messages["console"]["settings"]["done"] | undefined;
};

export function settingsPage(view: SettingsView): Html {
  const { frame, settings: text } = view.messages.console;
  const { branding } = view.record.settings;
  return consoleLayout({
    ...view,
    title: frame.pages.settings,
    breadcrumbs: [],
    summary: text.summary({ organisation: view.organisation.name }),
    notice: view.done && toast(text.done[view.done], view),
    previewAccent: accentOrDefault(branding.accentColor),
    body: [
      brandingCard(view),
      policiesCard(view),
      signUpCard(view),
      devicesCard(view),
      identityCard(view),
      card({
        id: "end",
        title: text.end,
        text: text.endText,
        body: codeBlock({
          id: "disable-command",
          title: text.endCommand,
          lines: `signet org disable ${view.record.id}`,
          copy: text.copy,
          copied: text.copied,
        }),
      }),
      lastChangeLine(view.lastChange, view.messages),
      copyStatus,
    ],
  });
}

function brandingCard({ record, consoleUri, messages }: SettingsView): Html {
  const { settings: text } = messages.console;
  const { name, settings } = record;
  const { accentColor } = settings.branding;
  const { logoUri } = pageOrganisation(record);
  return card({
    id: "branding",
    title: text.branding,
    text: text.brandingText,
    actions: html`<span class="heading-actions">${buttonLink({ id: "branding-edit", uri: consoleUri("/settings/branding"), label: text.edit })}${buttonLink({ id: "logo-edit", uri: consoleUri("/settings/logo"), label: text.imagesTitle })}</span>`,
    body: [
      facts([
        { label: text.name, content: html`<bdi>${name}</bdi>`, id: "organisation-name" },
        {
          label: text.accentColor,
          content: html`<span class="preview-light"><span class="swatch"></span></span> ${accentColor === undefined ? text.ownAccent : html`<code>${accentColor}</code>`}`,
        },
        { label: text.logo, content: logoUri === undefined ? text.noLogo : avatar(name, logoUri) },
      ]),
      html`<h3>${text.previewNow}</h3>`,
      signInPreview({ name, accentColor, logoUri, messages }),
    ],
  });
}

function policiesCard({ record, consoleUri, messages }: SettingsView): Html {
  const { settings: text } = messages.console;
  const { settings } = record;
  return card({
    id: "policies",
    title: text.policies,
    text: text.policiesText,
    actions: buttonLink({ id: "policies-edit", uri: consoleUri("/settings/policies"), label: text.edit }),
    body: facts([
      { label: text.passwordMinLength, content: text.charactersOf({ count: settings.passwordMinLength }) },
      { label: text.secondFactor, content: text.secondFactors[settings.secondFactor].label },
      {
        label: text.verifiedEmail,
        content: text.verifiedEmailStates[settings.requireVerifiedEmail ? "yes" : "no"],
      },
      {
        label: text.accountDeletion,
        content: text.accountDeletionStates[settings.allowAccountDeletion ? "yes" : "no"],
      },
      {
        label: text.pushedRequests,
        content: text.pushedRequestsStates[settings.requirePushedAuthorizationRequests ? "yes" : "no"],
      },
      { label: text.sessionLifetime, content: messages.format.lifetime(settings.sessionLifetimeSeconds) },
      { label: text.sessionIdle, content: messages.format.lifetime(settings.sessionIdleSeconds) },
      { label: text.language, content: languageName(settings.defaultLocale) },
      {
        label: text.auditRetention,
        content: text.auditRetentionOf({ count: settings.auditRetentionMonths }),
      },
    ]),
  });
}

function signUpCard({ record, consoleUri, messages }: SettingsView): Html {
  const { settings } = messages.console;
  const text = settings.signUp;
  const { mode, terms, groups } = record.settings.signUp;
  return card({
    id: "sign-up",
    title: text.title,
    text: text.summary,
    actions: buttonLink({ id: "sign-up-edit", uri: consoleUri("/settings/sign-up"), label: settings.edit }),
    body: facts([
      { label: text.mode, content: text.modes[mode].label },
      { label: text.version, content: terms?.version ?? text.noTerms },
      { label: text.groups, content: text.groupCount({ count: groups.length }) },
    ]),
  });
}

function devicesCard({ record, devicesUri, messages }: SettingsView): Html {
  const { devices, console: texts } = messages;
  const { settings: text } = texts;
  const { deviceAttestation, deviceEkTrust } = record.settings;
  return card({
    id: "device-policy",
    title: text.devices,
    text: text.devicesText,
    actions: buttonLink({ id: "device-policy-edit", uri: devicesUri, label: text.devicesEdit }),
    body: facts([
      { label: text.attestation, content: devices.policy.attestations[deviceAttestation].label },
      { label: devices.policy.ekTrust, content: devices.policy.ekTrusts[deviceEkTrust].label },
    ]),
  });
}

function identityCard({ record, issuer, messages }: SettingsView): Html {
  const { settings: text } = messages.console;
  const { copy, copied } = text;
  const copyableFact = (id: string, label: string, value: string) => ({
    label,
    content: copyField({ id, label, value, copy, copied }),
  });
  return card({
    id: "identity",
    title: text.identity,
    body: facts([
      copyableFact("organisation-id", text.id, record.id),
      copyableFact("organisation-issuer", text.issuer, issuer),
      { label: text.created, content: relativeTime(record.createdAt, messages.format.day) },
    ]),
  });
}
