/** Pages that register an agent or its new keys: paste, then compare and approve. */
import type { SigningAgent } from "../../../core/signing-pools/agent-key.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { codeBlock } from "../../../html/components/code-block.ts";
import { type ConsoleView, consoleLayout } from "../../../html/components/console-layout.ts";
import { copyStatus } from "../../../html/components/copy-field.ts";
import { textArea, textField } from "../../../html/components/fields.ts";
import { fieldsOf, formNotice } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { recordForm } from "../../../html/components/record-form.ts";
import { nameCell, table } from "../../../html/components/table.ts";
import { type Html, html } from "../../../html/html.ts";
import { installLine } from "../../../page-kit/program-address.ts";

export type RegistrationInput = { name: string; registration: string };

export type RegisterView = FormView<RegistrationInput> &
  Pick<ConsoleView, "breadcrumbs"> & {
    pool: SigningPool;
    /** The agent that gets more keys; without one, a new agent is registered. */
    agent?: SigningAgent;
    baseUrl: string;
    version: string;
    backUri: string;
  };

export function registerPage(view: RegisterView): Html {
  const { agent, messages } = view;
  const { pools, frame } = messages.console;
  const { register: text } = pools;
  const labels = { name: text.name, registration: text.printed };
  const field = fieldsOf(view, labels);
  const lines = agent ? keysCommand : newAgentCommand(view);
  const { copy, copied, wrap } = frame.secret;
  const name = { ...field("name"), hint: text.nameHint, maxLength: 100, isOptional: true };
  return consoleLayout({
    ...view,
    title: agent ? text.keysTitle : text.agentTitle,
    summary: text.text,
    notice: formNotice({ ...view, labels }),
    body: html`<section class="card"><ol class="steps"><li><p>${agent ? text.firstKeys : text.first}</p>
${!agent && codeBlock({ id: "install-command", title: text.command, lines: installLine("signing-agent", view), wrap, copy, copied })}${codeBlock({ id: "enroll-command", title: text.command, lines, wrap, copy, copied })}</li>
<li><p>${text.second}</p>
${recordForm({
  ...view,
  id: "register-form",
  fields: [
    !agent && textField(name),
    textArea({ ...field("registration"), hint: text.printedHint, rows: 8, isCode: true }),
  ],
  submit: { id: "register-review", label: text.review },
  cancelUri: view.backUri,
})}</li></ol></section>
${copyStatus}`,
  });
}

/** The pasted keys by thumbprint: the administrator compares them with the agent's output. */
export function reviewPage(
  view: RegisterView & {
    /** The agent's. */
    name: string;
    keys: ReadonlyArray<{ kid: string; alg: string; x5c: readonly string[] }>;
  },
): Html {
  const { agent, keys, input, messages } = view;
  const { register: text } = messages.console.pools;
  return consoleLayout({
    ...view,
    title: text.reviewTitle({ name: view.name }),
    summary: text.reviewText,
    body: html`<section class="card">${table({
      label: text.keys,
      columns: [text.thumbprint, text.algorithm, text.certificates],
      rows: keys.map(({ kid, alg, x5c }) => ({
        id: `key-${kid}`,
        cells: [nameCell({ name: kid }), alg, x5c.length === 0 ? text.noCertificates : String(x5c.length)],
      })),
      messages,
    })}${recordForm({
      ...view,
      id: "approve-form",
      hidden: [
        { name: "step", value: "approve" },
        { name: "name", value: input.name },
        { name: "registration", value: input.registration },
      ],
      fields: undefined,
      submit: { id: "register-approve", label: agent ? text.approveKeys : text.approveAgent },
      cancelUri: view.backUri,
    })}</section>
`,
  });
}

/** As in the agent's documentation. */
export const FOLDER = "/etc/signet-agent";

/** Creates a key and prints its registration; the private key stays on the machine. */
const newAgentCommand = ({ baseUrl, pool: { orgId, id } }: RegisterView): string =>
  [
    `signet-agent enroll --service ${baseUrl}`,
    `--organisation ${orgId}`,
    `--pool ${id}`,
    `--name agent-1 --dir ${FOLDER} --print`,
  ].join(" \\\n  ");

/** Prints the registration of another key. */
const keysCommand = `signet-agent keys list --config ${FOLDER}/agent.yaml
signet-agent keys register --config ${FOLDER}/agent.yaml --kid KID --print`;
