/** ledger/settings: who may read the ledger, and how many witnesses must cosign. */
import type { FastifyInstance } from "fastify";
import { type LedgerMode, ledgerModes, MAX_WITNESSES } from "../../../core/ledger/ledger-log.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { radioField, textField } from "../../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import type { Html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { type EditForm, editRoute } from "../../../page-kit/edit-form.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";
import { organisationRecord } from "../settings/organisation-record.ts";

export const ledgerSettingsRoute = (app: FastifyInstance, deps: ConsoleDeps): void =>
  editRoute(app, deps, "/oauth/manage/:org/ledger/settings", settingsForm);

interface Input {
  readonly ledger: string;
  readonly ledgerWitnessQuorum: string;
}

interface Content {
  readonly ledger: LedgerMode;
  readonly ledgerWitnessQuorum: number;
}

const toInput = ({ settings }: Organisation): Input => ({
  ledger: settings.ledger,
  ledgerWitnessQuorum: String(settings.ledgerWitnessQuorum),
});

const settingsForm: EditForm<ConsoleDeps, Organisation, Input, Content> = {
  ...organisationRecord,
  current: "ledger",
  version: toInput,
  toInput,
  readInput: ({ values }) => ({
    ledger: values.get("ledger") ?? "",
    ledgerWitnessQuorum: (values.get("ledgerWitnessQuorum") ?? "").trim().slice(0, 20),
  }),
  toDisplay: ({ ledger, ledgerWitnessQuorum }, { messages }) => {
    const mode = ledgerModes.find((one) => one === ledger);
    const { modes } = messages.console.ledger;
    return { ledger: mode ? modes[mode].label : ledger, ledgerWitnessQuorum };
  },
  page: settingsPage,
  validate: ({ ledger, ledgerWitnessQuorum: typed }, { messages }) => {
    const mode = ledgerModes.find((one) => one === ledger);
    if (!mode) return { faults: { ledger: messages.console.settings.faults.choice } };
    // The core says which numbers may be.
    const quorum = /^\d{1,9}$/.test(typed) ? Number(typed) : Number.NaN;
    return { content: { ledger: mode, ledgerWitnessQuorum: quorum } };
  },
  save: async (inside, settings, { visit: { organisation }, acting }) => {
    await changeOrganisationSettings(inside, { ...acting, settings });
    return consolePath(organisation, "/ledger?done=saved");
  },
};

const labelsOf = ({ console: { ledger } }: Messages) => ({
  ledger: ledger.mode.label,
  ledgerWitnessQuorum: ledger.quorum.label,
});

function settingsPage(view: FormView<Input>): Html {
  const { ledger: text, frame } = view.messages.console;
  const ledgerUri = view.consoleUri("/ledger");
  const labels = labelsOf(view.messages);
  const field = fieldsOf(view, labels);
  return formPage({
    ...view,
    ...{ title: text.settingsTitle, summary: text.cost, id: "ledger-form", labels },
    breadcrumbs: [{ label: frame.pages.ledger, uri: ledgerUri }],
    fields: [
      radioField({
        ...field("ledger"),
        choices: ledgerModes.map((value) => ({ value, ...text.modes[value] })),
      }),
      textField({
        ...field("ledgerWitnessQuorum"),
        ...{ hint: text.quorum.hint, type: "number", min: 1, max: MAX_WITNESSES, isRequired: true },
      }),
    ],
    submit: { id: "ledger-save", label: frame.form.save },
    cancelUri: ledgerUri,
  });
}
