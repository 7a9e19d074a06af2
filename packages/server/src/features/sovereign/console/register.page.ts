/** The wizard that registers an agent or its new keys: paste, then compare and approve. */
import type { SigningAgent } from "../../../core/signing-pools/agent-key.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { codeBlock } from "../../../html/components/code-block.ts";
import type { ConsoleView } from "../../../html/components/console-layout.ts";
import { textArea, textField } from "../../../html/components/fields.ts";
import { fieldsOf, formNotice } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { livePanel } from "../../../html/components/live-panel.ts";
import { recordForm } from "../../../html/components/record-form.ts";
import { type ListedStep, stepList } from "../../../html/components/step-list.ts";
import { nameCell, table } from "../../../html/components/table.ts";
import { wizardPage } from "../../../html/components/wizard.page.ts";
import type { Html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
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
  const { copy, copied, wrap } = frame.secret;
  const command = (id: string, lines: string) =>
    codeBlock({ id, title: text.command, lines, wrap, copy, copied });
  const name = { ...field("name"), hint: text.nameHint, maxLength: 100, isOptional: true };
  const install = {
    id: "step-install",
    title: text.installTitle,
    text: text.installText,
    body: command("install-command", installLine("signing-agent", view)),
  };
  return wizardPage({
    ...view,
    title: agent ? text.keysTitle : text.agentTitle,
    summary: text.text,
    notice: formNotice({ ...view, labels }),
    steps: [
      ...(agent ? [] : [install]),
      {
        id: "step-key",
        title: text.keyTitle,
        text: agent ? text.firstKeys : text.first,
        body: command("enroll-command", agent ? keysCommand : newAgentCommand(view)),
      },
      {
        id: "step-paste",
        title: text.pasteTitle,
        text: text.second,
        body: recordForm({
          ...view,
          id: "register-form",
          fields: [
            !agent && textField(name),
            textArea({ ...field("registration"), hint: text.printedHint, rows: 8, isCode: true }),
          ],
          submit: { id: "register-review", label: text.review },
          cancelUri: view.backUri,
        }),
      },
    ],
    panel: registrationPanel("paste", messages, agent !== undefined),
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
  const list = table({
    label: text.keys,
    columns: [text.thumbprint, text.algorithm, text.certificates],
    rows: keys.map(({ kid, alg, x5c }) => ({
      id: `key-${kid}`,
      cells: [nameCell({ name: kid }), alg, x5c.length === 0 ? text.noCertificates : String(x5c.length)],
    })),
    messages,
  });
  const approve = recordForm({
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
  });
  return wizardPage({
    ...view,
    title: text.reviewTitle({ name: view.name }),
    summary: text.reviewText,
    steps: [{ id: "step-compare", title: text.compareTitle, body: [list, approve] }],
    panel: registrationPanel("compare", messages, agent !== undefined),
  });
}

/** How far a registration is, beside its pages: the last one's panel sees when the agent connects (agent-waiting.ts). */
const registrationPanel = (at: "paste" | "compare", messages: Messages, isForKeys: boolean): Html => {
  const { register: text } = messages.console.pools;
  return livePanel({
    id: "registration-progress",
    title: text.progressTitle,
    state: "waiting",
    text: isForKeys ? undefined : text.progressText,
    body: stepList(registrationSteps({ isPasted: at === "compare" }, messages, isForKeys), messages),
  });
};

/** @param isForKeys of an agent that is running already */
export function registrationSteps(
  {
    isPasted,
    isApproved = false,
    isConnected = false,
  }: Readonly<Partial<Record<"isPasted" | "isApproved" | "isConnected", boolean>>>,
  { console: { pools } }: Messages,
  isForKeys = false,
): ListedStep[] {
  const { progress } = pools.register;
  const steps = [
    { id: "progress-paste", label: progress.paste, isDone: isPasted ?? false },
    { id: "progress-approve", label: progress.approve, isDone: isApproved },
    { id: "progress-connect", label: progress.connect, isDone: isConnected },
  ];
  return isForKeys ? steps.slice(0, 2) : steps;
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
