/** The sign-in methods on the page of a password reset: each passkey stays only if its owner ticks it. */
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
  /** Without `removal`, the app stays. */
  totp?: { createdAt: number; removal?: { field: string; isChosen: boolean } | undefined } | undefined;
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

function totpChoice({ createdAt, removal }: NonNullable<FactorChoiceView["totp"]>, text: Text): Html {
  if (!removal)
    return html`<p class="quiet" id="authenticator-stays">${text.authenticatorStays({ at: createdAt })}</p>`;
  return html`<fieldset class="tick-list" id="new-authenticator">
<legend>${text.authenticator}</legend>
<p class="quiet">${text.authenticatorText({ at: createdAt })}</p>
<div class="check">
<input id="${removal.field}" name="${removal.field}" type="checkbox" value="yes"${removal.isChosen && html` checked`}>
<label for="${removal.field}">${text.removeAuthenticator}</label>
</div>
</fieldset>`;
}
