/** The form of a new pool, and of a pool's settings. */
import { agentAlgs } from "@signet/protocol/agent-signature";
import { issuerModes } from "../../../core/signing-pools/signing-pool.ts";
import { type DurationUnit, durationInput, toDurationText } from "../../../html/components/duration-input.ts";
import {
  checkField,
  checkList,
  fieldRow,
  radioField,
  textArea,
  textField,
} from "../../../html/components/fields.ts";
import { editedCard, fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import type { Content, Html } from "../../../html/html.ts";
import { poolLimits } from "../admin-api/pools.ts";
import type { DurationField, PoolInput } from "./pool-input.ts";
import { poolCrumbs } from "./pool-path.ts";

export const newPoolPage = (view: FormView<PoolInput>): Html => {
  const { pools: text } = view.messages.console;
  return formPage({
    ...view,
    title: text.makeTitle,
    summary: text.makeText,
    breadcrumbs: poolCrumbs(view),
    id: "pool-form",
    labels: text.fields,
    fields: poolFields(view, true),
    submit: { id: "pool-save", label: text.makeSubmit },
    cancelUri: view.consoleUri("/pools"),
  });
};

export const poolForm = (view: FormView<PoolInput>): Html =>
  editedCard({
    ...view,
    label: view.messages.console.pools.settingsTitle,
    id: "pool-form",
    fields: poolFields(view, false),
    submit: { id: "pool-save", label: view.messages.console.frame.form.save },
  });

function poolFields(view: FormView<PoolInput>, isNew: boolean): Content {
  const { input, messages } = view;
  const { pools: text } = messages.console;
  const fieldOf = fieldsOf(view, text.fields);
  const field = <Id extends keyof PoolInput>(id: Id) => ({ ...fieldOf(id), hint: text.hints[id] });
  const duration = (id: DurationField, units: readonly DurationUnit[] = ["minutes", "hours", "days"]) => {
    const { value, ...common } = field(id);
    const isSeconds = /^\d{1,10}$/.test(value);
    const shown = isSeconds ? toDurationText(Number(value)) : ({ amount: value, unit: "minutes" } as const);
    return durationInput({ ...common, units, value: shown });
  };
  const [min, max] = poolLimits.maxPending;
  const issuers = issuerModes.map((value) => ({
    value,
    label: text.issuerModes[value],
    text: text.issuerModeHints[value],
  }));
  return [
    textField({ ...field("name"), maxLength: 100, isRequired: true }),
    checkList({
      ...field("algs"),
      values: input.algs,
      choices: agentAlgs.map((alg) => ({ value: alg, label: alg })),
    }),
    isNew && radioField({ ...field("issuerMode"), choices: issuers }),
    fieldRow(duration("maxTokenLifetimeSeconds"), duration("tokenWaitSeconds", ["seconds"])),
    fieldRow(
      duration("keyPublishDelaySeconds"),
      textField({ ...field("maxPending"), min, max, type: "number", isRequired: true }),
    ),
    textArea({ ...field("trustedRoots"), rows: 5, isCode: true, isOptional: true }),
    checkField({ ...field("requireX5c"), isChecked: input.requireX5c }),
  ];
}
