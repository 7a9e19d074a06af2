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
import { editedCard, fieldsOf, formNotice } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { livePanel } from "../../../html/components/live-panel.ts";
import { recordForm } from "../../../html/components/record-form.ts";
import { type ListedStep, stepList } from "../../../html/components/step-list.ts";
import { wizardPage } from "../../../html/components/wizard.page.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { poolLimits } from "../admin-api/pools.ts";
import type { DurationField, PoolInput } from "./pool-input.ts";
import { poolCrumbs } from "./pool-path.ts";

/** The first step towards a pool that signs; the panel beside it goes on at the pool's own page (`poolSetup`). */
export const newPoolPage = (view: FormView<PoolInput>): Html => {
  const { messages } = view;
  const { pools: text } = messages.console;
  return wizardPage({
    ...view,
    title: text.makeTitle,
    summary: text.makeText,
    breadcrumbs: poolCrumbs(view),
    notice: formNotice({ ...view, labels: text.fields }),
    steps: [
      {
        id: "step-pool",
        title: text.settingsTitle,
        body: recordForm({
          ...view,
          id: "pool-form",
          fields: poolFields(view, "new"),
          submit: { id: "pool-save", label: text.makeSubmit },
          cancelUri: view.consoleUri("/pools"),
        }),
      },
    ],
    panel: livePanel({
      id: "pool-progress",
      title: text.setup.title,
      state: "waiting",
      body: stepList(setupSteps({}, messages), messages),
    }),
  });
};

type SetupStep = "pool" | "agent" | "online" | "key" | "application";

/** What a pool needs before it signs. @param has with `key` for a threshold pool alone @param uris where what isn't done yet is done */
export function setupSteps(
  has: Readonly<Partial<Record<SetupStep, boolean>>>,
  { console: { pools } }: Messages,
  uris: Readonly<Partial<Record<SetupStep, string>>> = {},
): ListedStep[] {
  const step = (name: SetupStep) => {
    const isDone = has[name] ?? false;
    const uri = isDone ? undefined : uris[name];
    const label = pools.setup[name];
    const link = uri !== undefined && html`<a href="${linkAddress(uri)}">${label}</a>`;
    return { id: `setup-${name}`, label: link || label, isDone };
  };
  const key = has.key === undefined ? [] : [step("key")];
  return [step("pool"), step("agent"), step("online"), ...key, step("application")];
}

/** @param isThreshold its key has no choice: what concerns whole keys is not offered */
export const poolForm = (view: FormView<PoolInput>, isThreshold: boolean): Html =>
  editedCard({
    ...view,
    label: view.messages.console.pools.settingsTitle,
    id: "pool-form",
    fields: poolFields(view, isThreshold ? "threshold" : "whole-keys"),
    submit: { id: "pool-save", label: view.messages.console.frame.form.save },
  });

function poolFields(view: FormView<PoolInput>, of: "new" | "whole-keys" | "threshold"): Content {
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
  const count = (id: "maxPending" | "approvals") => {
    const [min, max] = poolLimits[id];
    return textField({ ...field(id), min, max, type: "number", isRequired: true });
  };
  const issuers = issuerModes.map((value) => ({
    value,
    label: text.issuerModes[value],
    text: text.issuerModeHints[value],
  }));
  return [
    textField({ ...field("name"), maxLength: 100, isRequired: true }),
    of !== "threshold" &&
      checkList({
        ...field("algs"),
        values: input.algs,
        choices: agentAlgs.map((alg) => ({ value: alg, label: alg })),
      }),
    of === "new" && radioField({ ...field("issuerMode"), choices: issuers }),
    fieldRow(duration("maxTokenLifetimeSeconds"), duration("tokenWaitSeconds", ["seconds"])),
    fieldRow(duration("keyPublishDelaySeconds"), count("maxPending")),
    of !== "threshold" && [
      count("approvals"),
      textArea({ ...field("trustedRoots"), rows: 5, isCode: true, isOptional: true }),
      checkField({ ...field("requireX5c"), isChecked: input.requireX5c }),
    ],
  ];
}
