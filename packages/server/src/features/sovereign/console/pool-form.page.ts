/** The form of a new pool, and of its settings. */
import { agentAlgs } from "@signet/protocol/agent-signature";
import { issuerModes } from "../../../core/signing-pools/signing-pool.ts";
import {
  type ConsoleFrame,
  type ConsoleView,
  consoleLayout,
} from "../../../html/components/console-layout.ts";
import {
  checkField,
  checkList,
  fieldRow,
  radioField,
  textArea,
  textField,
} from "../../../html/components/fields.ts";
import { type FormState, faultsFailure, fieldState } from "../../../html/components/form-state.ts";
import { type FormFailure, failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { type Html, html } from "../../../html/html.ts";
import { poolLimits } from "../admin-api/pools.ts";
import type { NumberField, TypedPool } from "./pool-form.ts";

export type PoolFormView = ConsoleFrame &
  Pick<ConsoleView, "breadcrumbs"> & {
    isNew: boolean;
    typed: TypedPool;
    state: FormState;
    failure?: FormFailure | undefined;
    action: string;
    csrf: string;
    version?: string | undefined;
    /** For a new pool only. */
    once?: string | undefined;
    backUri: string;
  };

export function poolFormPage(view: PoolFormView): Html {
  const { messages, isNew, state: form } = view;
  const { pools: text } = messages.console;
  const labels: Readonly<Record<string, string>> = text.fields;
  const failure = view.failure ?? faultsFailure(form, (id) => labels[id] ?? id);
  return consoleLayout({
    ...view,
    title: isNew ? text.makeTitle : text.settingsTitle,
    summary: isNew ? text.makeText : undefined,
    notice: failureNotice(failure, messages),
    body: html`<section class="card">${recordForm({
      id: "pool-form",
      action: view.action,
      csrf: view.csrf,
      version: view.version,
      once: view.once,
      fields: [naming(view), timing(view), certificates(view)],
      submit: { id: "pool-save", label: isNew ? text.makeSubmit : messages.console.frame.form.save },
      cancelUri: view.backUri,
      messages,
    })}</section>
`,
  });
}

function naming({ isNew, typed, state: form, messages }: PoolFormView): Html {
  const { pools: text } = messages.console;
  return html`${[
    textField({
      id: "name",
      label: text.fields.name,
      hint: text.hints.name,
      value: typed.name,
      maxLength: 100,
      isRequired: true,
      ...fieldState(form, "name"),
      messages,
    }),
    checkList({
      id: "algs",
      label: text.fields.algs,
      hint: text.hints.algs,
      values: typed.algs,
      choices: agentAlgs.map((alg) => ({ value: alg, label: alg })),
      ...fieldState(form, "algs"),
      messages,
    }),
    isNew &&
      radioField({
        id: "issuerMode",
        label: text.fields.issuerMode,
        hint: text.hints.issuerMode,
        value: typed.issuerMode,
        choices: issuerModes.map((mode) => ({
          value: mode,
          label: text.issuerModes[mode],
          text: text.issuerModeHints[mode],
        })),
        ...fieldState(form, "issuerMode"),
        messages,
      }),
  ]}`;
}

function timing(view: PoolFormView): Html {
  const { pools: text } = view.messages.console;
  const number = (id: NumberField, unit?: string) => {
    const [min, max] = poolLimits[id];
    return textField({
      ...{ id, min, max, type: "number" as const, isRequired: true },
      label: text.fields[id],
      hint: text.hints[id],
      value: view.typed[id],
      ...(unit === undefined ? {} : { unit }),
      ...fieldState(view.state, id),
      messages: view.messages,
    });
  };
  return html`${fieldRow(number("maxTokenLifetimeSeconds", text.seconds), number("tokenWaitSeconds", text.seconds))}${fieldRow(
    number("keyPublishDelaySeconds", text.seconds),
    number("maxPending"),
  )}`;
}

function certificates({ typed, state: form, messages }: PoolFormView): Html {
  const { pools: text } = messages.console;
  return html`${[
    textArea({
      id: "trustedRoots",
      label: text.fields.trustedRoots,
      hint: text.hints.trustedRoots,
      value: typed.trustedRoots,
      rows: 5,
      isCode: true,
      isOptional: true,
      ...fieldState(form, "trustedRoots"),
      messages,
    }),
    checkField({
      id: "requireX5c",
      label: text.fields.requireX5c,
      hint: text.hints.requireX5c,
      isChecked: typed.requireX5c,
      ...fieldState(form, "requireX5c"),
      messages,
    }),
  ]}`;
}
