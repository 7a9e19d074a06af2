/** What is done at a provider, step by step, with the addresses to copy there. */
import type { samlAddresses } from "../../../core/connections/connection-addresses.ts";
import type { Preset } from "../../../core/connections/sign-in/sign-in-settings.ts";
import { facts } from "../../../html/components/card.ts";
import { copyField } from "../../../html/components/copy-field.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";

/** @param preset null: any provider that supports OpenID Connect */
export function setupSteps(preset: Preset | null, redirectUri: string, { console }: Messages): Html {
  const { setup, provider } = console.connections;
  const { register, callback, secret } = setup[preset ?? "oidc"];
  const copied = copyField({
    ...{ ...console.frame.secret, id: "redirect-uri", value: redirectUri, label: provider.redirectUri },
  });
  return steps([register, [callback, copied], secret]);
}

/** Before there is metadata to save. */
export function samlSetupSteps(
  { acsUri, spEntityId }: Pick<ReturnType<typeof samlAddresses>, "acsUri" | "spEntityId">,
  { console }: Messages,
): Html {
  const { setup, saml } = console.connections;
  const { register, callback, metadata } = setup.saml;
  const copied = (id: string, value: string, label: string) => ({
    label,
    content: copyField({ ...console.frame.secret, id, value, label }),
  });
  const addresses = facts([
    copied("acs-uri", acsUri, saml.acsUri),
    copied("sp-entity-id", spEntityId, saml.spEntityId),
  ]);
  return steps([register, [callback, addresses], metadata]);
}

/** The second one with what is copied. */
const steps = ([first, [text, copied], last]: readonly [string, readonly [string, Content], string]): Html =>
  html`<ol class="steps" id="setup-steps"><li>${first}</li>
<li><p>${text}</p>
${copied}</li>
<li>${last}</li></ol>
`;
