/**
 * The sign-in methods on the page of a password reset: each passkey stays only if its owner ticks it, and a new authenticator
 * app is kept or removed by a choice that has no default.
 */
import { type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { quotableName } from "../../../html/quotable-name.ts";

export type FactorChoiceView = {
  passkeys: readonly {
    field: string;
    isKept: boolean;
    name: string;
    createdAt: number;
    lastUsedAt: number | null;
  }[];
  /** Without `choice`, the app stays. */
  totp?: { createdAt: number; choice?: { field: string; value: string | undefined } | undefined } | undefined;
};

type Text = Messages["recovery"]["factors"];

export function factorChoice(view: FactorChoiceView, { factors: text }: Messages["recovery"]): Html {
  return html`${view.passkeys.length > 0 && passkeyChoice(view.passkeys, text)}
${view.totp && totpChoice(view.totp, text)}`;
}

function passkeyChoice(passkeys: FactorChoiceView["passkeys"], text: Text): Html {
  return html`<fieldset class="tick-list" id="kept-passkeys">
<legend>${text.passkeys}</legend>
<p class="quiet">${text.passkeysText}</p>
${passkeys.map(
  ({ field, isKept, name, createdAt, lastUsedAt }) => html`<div class="check">
<input id="${field}" name="${field}" type="checkbox" value="yes"${isKept && html` checked`} aria-describedby="${field}-note">
<label for="${field}"><bdi>${quotableName(name) ?? text.passkey}</bdi></label>
<p class="quiet check-hint" id="${field}-note">${text.added({ at: createdAt })}${lastUsedAt !== null && html` · ${text.used({ at: lastUsedAt })}`}</p>
</div>
`,
)}</fieldset>`;
}

function totpChoice({ createdAt, choice }: NonNullable<FactorChoiceView["totp"]>, text: Text): Html {
  if (!choice)
    return html`<p class="quiet" id="authenticator-stays">${text.authenticatorStays({ at: createdAt })}</p>`;
  const options = [
    { value: "keep", label: text.keepAuthenticator },
    { value: "remove", label: text.removeAuthenticator },
  ];
  return html`<fieldset class="tick-list" id="new-authenticator">
<legend>${text.authenticator}</legend>
<p class="quiet">${text.authenticatorText({ at: createdAt })}</p>
${options.map(
  ({ value, label }) => html`<div class="check">
<input id="${value}-authenticator" name="${choice.field}" type="radio" value="${value}" required${choice.value === value && html` checked`}>
<label for="${value}-authenticator">${label}</label>
</div>
`,
)}</fieldset>`;
}
