import type { AttestationPolicy } from "../../core/devices/device.ts";
import { hiddenFields } from "../../html/form.ts";
import { type Content, type Html, html, linkAddress } from "../../html/html.ts";
import type { Messages } from "../../html/messages/messages.ts";
import { notice } from "../../html/notice.ts";

export type RegisterForm = {
  action: string;
  csrf: string;
  /** The organisation's own policy: a code can only tighten it. */
  policy: AttestationPolicy;
  typed: RegisterFields;
  /** Why there is no code: which field, and what about it. */
  fault?: { field: keyof RegisterFields; error: RegisterFault } | undefined;
  /** The page waited too long: nothing is wrong with what was typed. */
  isExpired?: boolean | undefined;
};

export type RegisterFault = "badName" | "badReplaces" | "badChoice";

/** As they were typed. */
export type RegisterFields = { name: string; attestation: string; expiresIn: string; replaces: string };

export const lifetimes = [3_600, 86_400, 3 * 86_400, 7 * 86_400] as const;
export const emptyRegisterFields: RegisterFields = {
  name: "",
  attestation: "none",
  expiresIn: "86400",
  replaces: "",
};

const NOTICE_ID = "register-notice";

/** The form that makes an enrolment code. */
export function registerForm(form: RegisterForm, messages: Messages): Html {
  const { register: text } = messages.devices;
  const { typed, fault } = form;
  const input = (field: "name" | "replaces", hint: string, more: Html): Html => {
    const isWrong = fault?.field === field;
    const described = isWrong ? `${NOTICE_ID} ${field}-fault ${field}-hint` : `${field}-hint`;
    return html`<div class="field">
<label for="${field}">${text[field]}</label>
<input id="${field}" name="${field}" value="${typed[field]}" autocomplete="off" aria-describedby="${described}"${isWrong && html` aria-invalid="true" autofocus`}${more}>
${isWrong && html`<p class="failed" id="${field}-fault">${text[fault.error]}</p>`}<p class="field-hint" id="${field}-hint">${hint}</p>
</div>
`;
  };
  return html`<section class="card" aria-labelledby="register-title">
<h2 id="register-title">${text.heading}</h2>
<p class="quiet">${text.text}</p>
${failureNotice(form, messages)}<form class="form" method="post" action="${linkAddress(form.action)}">
${hiddenFields([{ name: "csrf", value: form.csrf }])}
${input("name", text.nameHint, html` maxlength="100"`)}${attestation(form, text)}<div class="field">
<label for="expiresIn">${text.expiresIn}</label>
<select id="expiresIn" name="expiresIn">${lifetimes.map((seconds) => option(String(seconds), text.lifetime(seconds), typed.expiresIn))}</select>
</div>
${input("replaces", text.replacesHint, html` maxlength="36" spellcheck="false"`)}<div class="actions"><button class="button primary" id="device-register-submit" type="submit">${text.submit}</button></div>
</form>
</section>
`;
}

function failureNotice({ fault, isExpired }: RegisterForm, { devices }: Messages): Content {
  if (isExpired) return notice("error", NOTICE_ID, devices.expired, devices.expiredText);
  if (!fault) return undefined;
  const { failed, [fault.error]: reason } = devices.register;
  // A field that is typed into says it itself.
  const isSaidThere = fault.field === "name" || fault.field === "replaces";
  return notice("error", NOTICE_ID, failed, isSaidThere ? undefined : reason);
}

/** Where the organisation asks for the most already, there is nothing to choose. */
function attestation({ policy, typed }: RegisterForm, text: Messages["devices"]["register"]): Html {
  const tighter = (["optional", "required"] as const).filter((one) =>
    one === "optional" ? policy === "none" : policy !== "required",
  );
  return html`<div class="field">
<label for="attestation">${text.attestation}</label>
<select id="attestation" name="attestation" aria-describedby="attestation-hint">${option("none", text.asForAll[policy], typed.attestation)}${tighter.map((one) => option(one, text.tightened[one], typed.attestation))}</select>
<p class="field-hint" id="attestation-hint">${text.attestationHint}</p>
</div>
`;
}

const option = (value: string, name: string, chosen: string): Html =>
  html`<option value="${value}"${value === chosen && html` selected`}>${name}</option>`;
