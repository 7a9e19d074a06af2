/** What is done at a provider, step by step, with the redirect URI to copy there. */
import type { Preset } from "../../../core/connections/sign-in/sign-in-settings.ts";
import { copyField } from "../../../html/components/copy-field.ts";
import { type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";

/** @param preset null: any provider that supports OpenID Connect */
export function setupSteps(preset: Preset | null, redirectUri: string, { console }: Messages): Html {
  const { setup, provider } = console.connections;
  const { register, callback, secret } = setup[preset ?? "oidc"];
  const copied = copyField({
    ...{ ...console.frame.secret, id: "redirect-uri", value: redirectUri, label: provider.redirectUri },
  });
  return html`<ol class="steps" id="setup-steps"><li>${register}</li>
<li><p>${callback}</p>
${copied}</li>
<li>${secret}</li></ol>
`;
}
