/** Pages that register an agent or its new keys: paste, then compare and approve. */
import {
  type ConsoleFrame,
  type ConsoleView,
  consoleLayout,
} from "../../../html/components/console-layout.ts";
import { textArea, textField } from "../../../html/components/fields.ts";
import { type FormState, faultsFailure, fieldState } from "../../../html/components/form-state.ts";
import { copyStatus, snippet } from "../../../html/components/parts.ts";
import { type FormFailure, failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { nameCell, table } from "../../../html/components/table.ts";
import { type Html, html } from "../../../html/html.ts";
import { copyScript } from "../../../html/scripts.ts";

export type TypedRegistration = { name: string; registration: string };

export type RegisterView = ConsoleFrame &
  Pick<ConsoleView, "breadcrumbs"> & {
    /** `agent`: a new agent with its name; `keys`: more keys for an agent. */
    kind: "agent" | "keys";
    typed: TypedRegistration;
    /** Prints the registration on the agent's machine. */
    command: string;
    state: FormState;
    failure?: FormFailure | undefined;
    action: string;
    csrf: string;
    once?: string | undefined;
    backUri: string;
  };

export function registerPage(view: RegisterView): Html {
  const { kind, typed, state: form, messages } = view;
  const { pools: text, frame } = messages.console;
  const { register } = text;
  const labels: Readonly<Record<string, string>> = { name: register.name, registration: register.printed };
  const failure = view.failure ?? faultsFailure(form, (id) => labels[id] ?? id);
  return consoleLayout({
    ...view,
    title: kind === "agent" ? register.agentTitle : register.keysTitle,
    summary: register.text,
    notice: failureNotice(failure, messages),
    scripts: [copyScript.path],
    body: html`<section class="card"><ol class="steps"><li><p>${kind === "agent" ? register.first : register.firstKeys}</p>
${snippet({
  id: "enroll-command",
  title: register.command,
  lines: view.command,
  copy: frame.secret.copy,
  copied: frame.secret.copied,
})}</li>
<li><p>${register.second}</p>
${recordForm({
  id: "register-form",
  action: view.action,
  csrf: view.csrf,
  once: view.once,
  fields: [
    kind === "agent" &&
      textField({
        id: "name",
        label: register.name,
        hint: register.nameHint,
        value: typed.name,
        maxLength: 100,
        isOptional: true,
        ...fieldState(form, "name"),
        messages,
      }),
    textArea({
      id: "registration",
      label: register.printed,
      hint: register.printedHint,
      value: typed.registration,
      rows: 8,
      isCode: true,
      ...fieldState(form, "registration"),
      messages,
    }),
  ],
  submit: { id: "register-review", label: register.review },
  cancelUri: view.backUri,
  messages,
})}</li></ol></section>
${copyStatus}`,
  });
}

export type ReviewView = ConsoleFrame &
  Pick<ConsoleView, "breadcrumbs"> & {
    kind: RegisterView["kind"];
    /** The agent's name. */
    name: string;
    typed: TypedRegistration;
    keys: ReadonlyArray<{ kid: string; alg: string; certificates: number }>;
    action: string;
    csrf: string;
    once: string;
    backUri: string;
  };

/** The pasted keys by thumbprint: the administrator compares them with the agent's output. */
export function reviewPage(view: ReviewView): Html {
  const { kind, keys, typed, messages } = view;
  const { register: text } = messages.console.pools;
  return consoleLayout({
    ...view,
    title: text.reviewTitle({ name: view.name }),
    summary: text.reviewText,
    body: html`<section class="card">${table({
      label: text.keys,
      columns: [text.thumbprint, text.algorithm, text.certificates],
      rows: keys.map(({ kid, alg, certificates }) => ({
        id: `key-${kid}`,
        cells: [
          nameCell({ name: kid }),
          alg,
          certificates === 0 ? text.noCertificates : String(certificates),
        ],
      })),
      messages,
    })}${recordForm({
      id: "approve-form",
      action: view.action,
      csrf: view.csrf,
      once: view.once,
      hidden: [
        { name: "step", value: "approve" },
        { name: "name", value: typed.name },
        { name: "registration", value: typed.registration },
      ],
      fields: undefined,
      submit: { id: "register-approve", label: kind === "agent" ? text.approveAgent : text.approveKeys },
      cancelUri: view.backUri,
      messages,
    })}</section>
`,
  });
}
