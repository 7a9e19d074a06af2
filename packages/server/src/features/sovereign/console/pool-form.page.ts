/** The form of a new pool, and of a pool's settings. */
import { agentAlgs } from "@signet/protocol/agent-signature";
import { issuerModes, type SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { type DurationUnit, durationInput, toDurationText } from "../../../html/components/duration-input.ts";
import {
  checkField,
  checkList,
  fieldRow,
  radioField,
  textArea,
  textField,
} from "../../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import type { Content, Html } from "../../../html/html.ts";
import { poolLimits } from "../admin-api/pools.ts";
import type { DurationField, PoolInput } from "./pool-input.ts";
import { poolCrumbs } from "./pool-path.ts";

/** @param pool undefined for a new one */
export function poolFormPage(view: FormView<PoolInput>, pool?: SigningPool): Html {
  const { pools: text, frame } = view.messages.console;
  const crumbs = poolCrumbs(view, { pool });
  return formPage({
    ...view,
    title: pool ? text.settingsTitle : text.makeTitle,
    summary: pool ? undefined : text.makeText,
    breadcrumbs: crumbs,
    id: "pool-form",
    labels: text.fields,
    fields: poolFields(view, pool === undefined),
    submit: { id: "pool-save", label: pool ? frame.form.save : text.makeSubmit },
    cancelUri: crumbs.at(-1)?.uri,
  });
}

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
