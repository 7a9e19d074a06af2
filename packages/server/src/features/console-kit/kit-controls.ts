/** Samples: buttons, fields, and what is copied. */
import { avatar } from "../../html/components/avatar.ts";
import { button, buttonLink } from "../../html/components/button.ts";
import { card } from "../../html/components/card.ts";
import { codeBlock } from "../../html/components/code-block.ts";
import { colourField } from "../../html/components/colour-field.ts";
import { copyField } from "../../html/components/copy-field.ts";
import { durationInput, toDurationText } from "../../html/components/duration-input.ts";
import { eventPicker } from "../../html/components/event-picker.ts";
import { checkField, radioField, selectField, textArea, textField } from "../../html/components/fields.ts";
import { recordForm } from "../../html/components/record-form.ts";
import { ringMark } from "../../html/components/ring-mark.ts";
import { scopePicker } from "../../html/components/scope-picker.ts";
import { secretReveal } from "../../html/components/secret-reveal.ts";
import { uriList } from "../../html/components/uri-list.ts";
import { type Html, html } from "../../html/html.ts";
import type { Messages } from "../../html/messages/messages.ts";

export const KIT = "/console-kit";

export const identityCard = (): Html =>
  card({
    id: "identity",
    title: "Mark and avatars",
    body: html`<div class="actions">${ringMark}${["Northwind Cooperative", "Harbour Clinic", "Fleet Desk", "Payroll", "Staff directory", "Till 3", "Warehouse", "Quay Bank"].map((name) => avatar(name))}${avatar("ada@northwind.example", undefined, { isRound: true })}${avatar("Fleet Desk", undefined, { size: "large" })}${avatar("Fleet Desk", undefined, { size: "small" })}</div>
`,
  });

export const buttonCard = (): Html =>
  card({
    id: "buttons",
    title: "Button",
    body: html`<div class="actions">${button({ id: "b-primary", label: "Save", kind: "primary", type: "button" })}${button({ id: "b-secondary", label: "Rotate secret", type: "button" })}${button({ id: "b-quiet", label: "Show all", kind: "quiet", type: "button" })}${button({ id: "b-red", label: "Revoke all", kind: "danger", type: "button" })}</div>
<div class="actions">${button({ id: "b-icon", label: "New application", kind: "primary", icon: "plus", type: "button" })}${button({ id: "b-busy", label: "Saving", kind: "primary", isBusy: true, type: "button" })}${button({ id: "b-disabled", label: "Disabled", isDisabled: true, type: "button" })}${button({ id: "b-drawer", label: "Open drawer", type: "button", opens: "kit-drawer" })}</div>
`,
  });

/** The question of another page, in place and as it opens over this one. */
export const dialogCard = (): Html =>
  card({
    id: "dialogs",
    title: "Dialog",
    body: html`<div class="dialog"><h2>Delete Payroll?</h2>
<p>Deleting an application is permanent. You can’t undo this.</p>
<div class="actions">${button({ id: "d-cancel", label: "Cancel", type: "button" })}${button({ id: "d-delete", label: "Delete permanently", kind: "danger", type: "button" })}</div></div>
<div class="actions">${buttonLink({ id: "b-danger", uri: `${KIT}/question`, label: "Delete application", kind: "danger", isQuestion: true })}</div>
`,
  });

/** A saveBar() as its script leaves it where something has changed; the form below has it as it comes. */
export const saveBarCard = (messages: Messages): Html => {
  const { form } = messages.console.frame;
  return card({
    id: "save-bars",
    title: "SaveBar, with changes",
    body: html`<div class="form"><div class="actions save-bar" data-changed><p class="save-bar-count">${form.unsaved({ count: 3 })}</p>
${button({ id: "s-cancel", label: form.cancel, type: "button" })}${button({ id: "s-discard", label: form.discard, type: "button" })}${button({ id: "s-save", label: form.save, kind: "primary", type: "button" })}</div></div>
`,
  });
};

export function copyCard(messages: Messages): Html {
  const { secret } = messages.console.frame;
  const lines = `SIGNET_OAUTH_AUTHORITY=https://id.northwind.example/oauth/01a209a2-4e55-75c0-a33b-97d48347c11f\nSIGNET_OAUTH_CLIENT_ID=01a209a2-5120-7c8e-874c-97596cf82036`;
  return card({
    id: "copying",
    title: "CopyField, SecretReveal, CodeBlock",
    body: html`<p>${copyField({ id: "kit-id", value: "01a209a2-5120-7c8e-874c-97596cf82036", label: "Client ID", ...secret })}</p>
${secretReveal({ id: "kit-secret", title: "Client secret", value: "sk_2b7f0c1e9d", variable: "SIGNET_OAUTH_CLIENT_SECRET", messages })}
${codeBlock({ id: "kit-code", title: ".env", lines, ...secret })}`,
  });
}

const SCOPES = ["openid", "profile", "email", "phone", "address", "offline_access"] as const;

export function fieldsCard(messages: Messages): Html {
  const field = (id: string, label: string) => ({ id, label, messages });
  const standard = SCOPES.map((name) => ({ name, group: "Standard scopes" }));
  return card({
    id: "fields",
    title: "Fields and SaveBar",
    body: recordForm({
      id: "kit-form",
      action: KIT,
      csrf: "",
      messages,
      version: "1",
      cancelUri: KIT,
      submit: { id: "kit-save", label: messages.console.frame.form.save },
      fields: [
        textField({ ...field("kit-name", "Name"), value: "Payroll", hint: "Shown on sign-in pages." }),
        textField({
          ...field("kit-home", "Home page"),
          value: "payroll",
          type: "url",
          fault: "Use an https URL.",
        }),
        textArea({ ...field("kit-text", "Description"), value: "", rows: 2, isOptional: true }),
        selectField({
          ...field("kit-type", "Type"),
          value: "web",
          choices: [
            { value: "web", label: "Web application" },
            { value: "spa", label: "Single-page application" },
          ],
        }),
        durationInput({ ...field("kit-life", "Access token lifetime"), value: toDurationText(5_400) }),
        uriList({
          ...field("kit-uris", "Redirect URIs"),
          values: ["https://payroll.northwind.example/callback"],
        }),
        colourField({ ...field("kit-colour", "Accent colour"), value: "#aa3300" }),
        radioField({
          ...field("kit-consent", "Consent"),
          value: "user",
          choices: [
            { value: "user", label: "User consent", text: "Each user consents once." },
            {
              value: "organisation",
              label: "Admin consent",
              text: "An administrator consents for everyone.",
            },
          ],
        }),
        checkField({ ...field("kit-pkce", "Require PKCE"), isChecked: true, hint: "Recommended." }),
        scopePicker({
          ...field("kit-scopes", "Allowed scopes"),
          values: ["openid", "email"],
          sensitive: messages.consent.sensitive,
          choices: [
            ...standard,
            { name: "payslips", text: "Read payslips", isSensitive: true, group: "Custom scopes" },
            { name: "ledger", text: "Read the ledger", group: "Custom scopes" },
          ],
        }),
        kitEvents(messages),
      ],
    }),
  });
}

const kitEvents = (messages: Messages): Html =>
  eventPicker({
    ...{ id: "kit-events", label: "Events", messages },
    values: ["user.created"],
    searchLabel: messages.console.webhooks.searchEvents,
    chosen: messages.console.webhooks.chosen,
    groups: [
      {
        ...{ id: "users", label: "Users" },
        choices: [
          { name: "user.created", text: "User created" },
          { name: "user.deleted", text: "User deleted" },
        ],
      },
      { id: "groups", label: "Groups", choices: [{ name: "group.changed", text: "Group changed" }] },
    ],
  });
