/** The form that creates an enrolment code. */
import type { AttestationPolicy } from "../../../core/devices/device.ts";
import { selectField, textField } from "../../../html/components/fields.ts";
import { fieldState } from "../../../html/components/form-state.ts";
import { card } from "../../../html/components/parts.ts";
import { type FormFailure, recordForm } from "../../../html/components/record-form.ts";
import type { Html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";

export type RegisterForm = {
  action: string;
  csrf: string;
  once: string;
  /** The organisation's policy: a code can only be stricter. */
  policy: AttestationPolicy;
  typed: RegisterFields;
  fault?: { field: keyof RegisterFields; error: RegisterFault } | undefined;
  /** The input is valid, but the form expired or was submitted before. */
  failure?: FormFailure | undefined;
};

export type RegisterFault = "badName" | "badReplaces" | "badChoice";

export type RegisterFields = { name: string; attestation: string; expiresIn: string; replaces: string };

export const lifetimes = [3_600, 86_400, 3 * 86_400, 7 * 86_400] as const;
export const emptyRegisterFields: RegisterFields = {
  name: "",
  attestation: "none",
  expiresIn: "86400",
  replaces: "",
};

export function registerFailure(
  { fault, failure }: RegisterForm,
  { devices: { register: text } }: Messages,
): FormFailure | undefined {
  if (failure) return failure;
  return fault && { kind: "faults", fields: [{ id: fault.field, label: text[fault.field] }] };
}

export function registerForm(
  { action, csrf, once, policy, typed, fault }: RegisterForm,
  messages: Messages,
): Html {
  const { register: text } = messages.devices;
  const faults: Record<string, string> = fault ? { [fault.field]: text[fault.error] } : {};
  const stateOf = (id: keyof RegisterFields) => fieldState({ faults }, id);
  const input = (id: "name" | "replaces", hint: string, maxLength: number) =>
    textField({
      id,
      label: text[id],
      hint,
      value: typed[id],
      maxLength,
      isOptional: true,
      isCode: id === "replaces",
      ...stateOf(id),
      messages,
    });
  return card({
    id: "register",
    title: text.heading,
    text: text.text,
    body: recordForm({
      id: "register-form",
      action,
      csrf,
      once,
      fields: [
        input("name", text.nameHint, 100),
        selectField({
          id: "attestation",
          label: text.attestation,
          hint: text.attestationHint,
          value: typed.attestation,
          choices: attestationChoices(policy, text),
          ...stateOf("attestation"),
          messages,
        }),
        selectField({
          id: "expiresIn",
          label: text.expiresIn,
          value: typed.expiresIn,
          choices: lifetimes.map((seconds) => ({
            value: String(seconds),
            label: messages.format.lifetime(seconds),
          })),
          ...stateOf("expiresIn"),
          messages,
        }),
        input("replaces", text.replacesHint, 36),
      ],
      submit: { id: "device-register-submit", label: text.submit },
      messages,
    }),
  });
}

/** Without stricter options there is nothing to choose. */
function attestationChoices(policy: AttestationPolicy, text: Messages["devices"]["register"]) {
  const tighter = (["optional", "required"] as const).filter((one) =>
    one === "optional" ? policy === "none" : policy !== "required",
  );
  return [
    { value: "none", label: text.asForAll[policy] },
    ...tighter.map((value) => ({ value, label: text.tightened[value] })),
  ];
}
