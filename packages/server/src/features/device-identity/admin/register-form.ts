/** The form that creates an enrolment code. */
import type { AttestationPolicy } from "../../../core/devices/device.ts";
import { card } from "../../../html/components/card.ts";
import { selectField, textField } from "../../../html/components/fields.ts";
import { fieldsOf } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { recordForm } from "../../../html/components/record-form.ts";
import type { Html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { lifetimes, type RegisterInput } from "./register-input.ts";

/** @param view.policy the organisation's: a code can only be stricter */
export function registerForm(view: FormView<RegisterInput> & { policy: AttestationPolicy }): Html {
  const { policy, messages } = view;
  const { register: text } = messages.devices;
  const field = fieldsOf(view, text);
  const expiries = lifetimes.map((seconds) => ({
    value: String(seconds),
    label: messages.format.lifetime(seconds),
  }));
  return card({
    id: "register",
    title: text.heading,
    text: text.text,
    body: recordForm({
      ...view,
      id: "register-form",
      fields: [
        textField({ ...field("name"), hint: text.nameHint, maxLength: 100, isOptional: true }),
        selectField({
          ...field("attestation"),
          hint: text.attestationHint,
          choices: attestationChoices(policy, text),
        }),
        selectField({ ...field("expiresIn"), choices: expiries }),
        textField({
          ...field("replaces"),
          hint: text.replacesHint,
          maxLength: 36,
          isOptional: true,
          isCode: true,
        }),
      ],
      submit: { id: "device-register-submit", label: text.submit },
    }),
  });
}

/** Without stricter options there is nothing to choose. */
function attestationChoices(policy: AttestationPolicy, text: Messages["devices"]["register"]) {
  const stricter = (["optional", "required"] as const).filter((one) =>
    one === "optional" ? policy === "none" : policy !== "required",
  );
  return [
    { value: "none", label: text.asForAll[policy] },
    ...stricter.map((value) => ({ value, label: text.tightened[value] })),
  ];
}
