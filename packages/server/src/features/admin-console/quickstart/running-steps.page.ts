/** The steps of a page that shows how an application is made to run. */
import type { SetupFile } from "../../../core/stacks/stack.ts";
import { card } from "../../../html/components/card.ts";
import { codeBlock } from "../../../html/components/code-block.ts";
import { stepCard } from "../../../html/components/step-card.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { CodeSnippet } from "./code-snippets.ts";
import type { RunningView } from "./running-view.ts";
import type { ShellSnippet } from "./shell-snippets.ts";

type Step = { id: string; title: string; text?: Content; body: Content };

/** Numbered in the order in which they are done. */
const numbered = (steps: ReadonlyArray<Step | undefined>): Html[] =>
  steps.filter((step) => step !== undefined).map((step, index) => stepCard({ ...step, number: index + 1 }));

/** For the settings of another library. */
export function stackSteps(view: RunningView, setup: NonNullable<RunningView["setup"]>): Html[] {
  const { running } = view.messages.console.quickstart;
  const { install, run } = setup.commands;
  const files = setup.files.map((file, index) => settingsFile(view, file, `setup-${index}`));
  return numbered([
    install === undefined
      ? undefined
      : {
          id: "step-install",
          title: running.install,
          body: lines(view, "install", running.terminal, install),
        },
    {
      id: "setup",
      title: running.setup({ stack: setup.title }),
      text: [running.setupText, view.source.hasSecret && ` ${running.setupSecret}`],
      body: [files, lacksSecret(view) && secretElsewhere(view)],
    },
    {
      id: "step-run",
      title: running.run,
      text: run === undefined ? running.runText : undefined,
      body: run !== undefined && lines(view, "run", running.terminal, run),
    },
  ]);
}

/** For the client SDK: the steps of one program, or the file that all read and each program folded away. */
export function sdkSteps(view: RunningView, { env, code, shell }: NonNullable<RunningView["sdk"]>): Html[] {
  const [only, ...others] = code;
  const settings = { id: "env", ...settingsStep(view, env) };
  const steps =
    only === undefined || others.length > 0
      ? numbered([settings, only && { id: "code", ...severalPrograms(view, code) }])
      : numbered(oneProgram(view, only, settings));
  return shell.length > 0 ? [...steps, shellCard(view, shell)] : steps;
}

function oneProgram(view: RunningView, one: CodeSnippet, settings: Step): Array<Step | undefined> {
  const { running } = view.messages.console.quickstart;
  const { id, file, install } = one;
  return [
    install === undefined
      ? undefined
      : {
          id: "step-install",
          title: running.install,
          text: running.installText,
          body: lines(view, `${id}-install`, running.terminal, install),
        },
    { ...settings, body: [settings.body, settingsFile(view, { file, lines: one.lines }, `${id}-code`)] },
    { id: "step-run", title: running.run, body: lines(view, `${id}-run`, running.terminal, one.run) },
  ];
}

function settingsStep(view: RunningView, env: string): Omit<Step, "id"> {
  const { running } = view.messages.console.quickstart;
  const { unregistered } = view.source.callback;
  return {
    title: running.env,
    text: running.envText,
    body: [
      unregistered !== undefined &&
        html`<p class="advice" id="callback-advice">${running.unregistered({ address: unregistered })} <a id="quickstart-settings" href="${linkAddress(view.consoleUri(`/applications/${view.application.id}/urls#redirectUris`))}">${running.register}</a></p>
`,
      settingsFile(view, { file: ".env", lines: env }, "env-file"),
      lacksSecret(view) && view.source.kind !== "legacy" && secretElsewhere(view),
    ],
  };
}

function severalPrograms(view: RunningView, code: readonly CodeSnippet[]): Omit<Step, "id"> {
  const { running } = view.messages.console.quickstart;
  return {
    title: running.code,
    text: running.codeText,
    body: code.map((one, index) => folded(view, one, index === 0)),
  };
}

/** Works without a script: one `details` of a name is open at a time. */
function folded(
  view: RunningView,
  { id, title, file, install, lines: text, run }: CodeSnippet,
  isOpen: boolean,
): Html {
  const { running } = view.messages.console.quickstart;
  return html`<details class="tab" id="tab-${id}" name="code"${isOpen && html` open`}><summary>${title}</summary>
<div class="tab-content">${install !== undefined && lines(view, `${id}-install`, running.install, install)}${settingsFile(view, { file, lines: text }, `${id}-code`)}${lines(view, `${id}-run`, running.run, run)}</div></details>
`;
}

const lines = ({ messages }: RunningView, id: string, title: string, text: string): Html => {
  const { secret } = messages.console.frame;
  return codeBlock({ id, title, lines: text, ...secret });
};

/** A file that can be downloaded where its heading is a file's name. */
function settingsFile({ messages }: RunningView, { file, lines: text }: SetupFile, id: string): Html {
  const { frame, quickstart } = messages.console;
  const isName = /^[\w./[\]-]*\.\w+$/.test(file);
  return codeBlock({
    ...{ id, title: file, lines: text, ...frame.secret },
    ...(isName
      ? { saveAs: { label: quickstart.running.download, file: file.slice(file.lastIndexOf("/") + 1) } }
      : {}),
  });
}

const lacksSecret = ({ source }: RunningView): boolean => source.hasSecret && source.secret === undefined;

const secretElsewhere = ({ source, messages }: RunningView): Html => {
  const { running } = messages.console.quickstart;
  return html`<p class="quiet">${running.secretElsewhere} <a id="quickstart-secret" href="${linkAddress(source.secretUri)}">${running.secretNew}</a></p>
`;
};

function shellCard(view: RunningView, shell: readonly ShellSnippet[]): Html {
  const { running } = view.messages.console.quickstart;
  const body = shell.map(({ id, lines: text }) => lines(view, `curl-${id}`, running.curl[id], text));
  return card({ id: "curl", title: running.byHand, text: running.byHandText, body });
}
