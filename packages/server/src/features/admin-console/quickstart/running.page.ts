/** A registered application: its `.env`, its code, and whether anyone has signed in yet. */
import type { Application } from "../../../core/applications/application.ts";
import type { SetupFile } from "../../../core/stacks/stack.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { codeBlock } from "../../../html/components/code-block.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { copyField, copyStatus } from "../../../html/components/copy-field.ts";
import { liveStatus } from "../../../html/components/live.ts";
import { lastChangeLine } from "../../../html/components/record-form.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import { liveScript } from "../../../html/scripts.ts";
import type { LastChange } from "../../../page-kit/actor-names.ts";
import type { CodeSnippet } from "./code-snippets.ts";
import type { ShellSnippet } from "./shell-snippets.ts";
import type { SnippetSource } from "./snippet-source.ts";
import { type WaitingView, waitingCard } from "./waiting.page.ts";

export type RunningView = ConsoleFrame &
  WaitingView & {
    application: Pick<Application, "id" | "name">;
    source: SnippetSource;
    /** For the client SDK. */
    env?: string;
    code?: readonly CodeSnippet[];
    shell?: readonly ShellSnippet[];
    /** For another library, in its place. */
    setup?: { title: string; files: readonly SetupFile[] };
    lastChange: LastChange | undefined;
  };

export function runningPage(view: RunningView): Html {
  const { messages, application } = view;
  const { running } = messages.console.quickstart;
  return consoleLayout({
    ...view,
    breadcrumbs: [{ label: messages.console.frame.pages.quickstart, uri: view.consoleUri("/quickstart") }],
    scripts: [liveScript.path],
    title: running.title({ application: application.name }),
    heading: html`<bdi>${application.name}</bdi>`,
    summary: running.summary,
    actions: buttonLink({
      id: "quickstart-record",
      uri: view.consoleUri(`/applications/${application.id}`),
      label: running.record,
    }),
    notice: view.source.secret === undefined ? undefined : secretNotice(view),
    body: html`<div class="with-aside"><div class="with-aside-main">
${view.setup ? setupCard(view, view.setup) : sdkCards(view)}${lastChangeLine(view.lastChange, messages)}</div>
<div class="with-aside-beside">${waitingCard(view)}${factsCard(view)}</div></div>
${copyStatus}${liveStatus}`,
  });
}

function secretNotice(view: RunningView): Html {
  const { messages } = view;
  const { frame, quickstart } = messages.console;
  return html`<div class="notice hint" id="once-notice" role="status"><p class="notice-title">${frame.secret.once}</p>
<p>${view.setup ? quickstart.running.secretOnceSetup : quickstart.running.secretOnce}</p></div>
`;
}

/** The library's own settings. */
function setupCard(view: RunningView, { title, files }: NonNullable<RunningView["setup"]>): Html {
  const { running } = view.messages.console.quickstart;
  const { source } = view;
  const { secret } = view.messages.console.frame;
  return card({
    id: "setup",
    title: running.setup({ stack: title }),
    text: running.setupText,
    body: [
      files.map(({ file, lines }, index) =>
        codeBlock({ id: `setup-${index}`, title: file, lines, ...secret }),
      ),
      source.hasSecret && source.secret === undefined && secretElsewhere(view),
    ],
  });
}

const secretElsewhere = ({ source, messages }: RunningView): Html => {
  const { running } = messages.console.quickstart;
  return html`<p class="quiet">${running.secretElsewhere} <a id="quickstart-secret" href="${linkAddress(source.secretUri)}">${running.secretNew}</a></p>
`;
};

function sdkCards(view: RunningView): Content {
  const { env = "", code = [], shell = [] } = view;
  return [
    envCard(view, env),
    code.length > 0 && codeCard(view, code),
    shell.length > 0 && shellCard(view, shell),
  ];
}

function envCard(view: RunningView, env: string): Html {
  const { running } = view.messages.console.quickstart;
  const { unregistered } = view.source.callback;
  const isLacking =
    view.source.hasSecret && view.source.secret === undefined && view.source.kind !== "legacy";
  return card({
    id: "env",
    title: running.env,
    text: running.envText,
    body: html`${
      unregistered !== undefined &&
      html`<p class="advice" id="callback-advice">${running.unregistered({ address: unregistered })} <a id="quickstart-settings" href="${linkAddress(view.consoleUri(`/applications/${view.application.id}/settings#card-addresses-title`))}">${running.register}</a></p>
`
    }${codeBlock({ id: "env-file", title: ".env", lines: env, ...view.messages.console.frame.secret })}${isLacking && secretElsewhere(view)}`,
  });
}

function codeCard(view: RunningView, code: readonly CodeSnippet[]): Html {
  const { running } = view.messages.console.quickstart;
  const usesSdk = code.some(({ install }) => install !== undefined);
  return card({
    id: "code",
    title: running.code,
    text: usesSdk ? running.codeText : running.codeTextPlain,
    body: code.map((one, index) => foldedAway(one.id, one.title, snippetBlocks(one, view), index === 0)),
  });
}

/** Works without a script: one `details` of a name is open at a time. */
const foldedAway = (id: string, title: string, content: Content, isOpen: boolean): Html =>
  html`<details class="tab" id="tab-${id}" name="code"${isOpen && html` open`}><summary>${title}</summary>
<div class="tab-content">${content}</div></details>
`;

function snippetBlocks({ id, file, install, lines, run }: CodeSnippet, view: RunningView): Content {
  const { running } = view.messages.console.quickstart;
  const part = (name: string, title: string, text: string) =>
    codeBlock({ id: `${id}-${name}`, title, lines: text, ...view.messages.console.frame.secret });
  return [
    install !== undefined && part("install", running.install, install),
    part("code", file, lines),
    part("run", running.run, run),
  ];
}

function shellCard(view: RunningView, shell: readonly ShellSnippet[]): Html {
  const { running } = view.messages.console.quickstart;
  const one = ({ id, lines }: ShellSnippet) =>
    codeBlock({ id: `curl-${id}`, title: running.curl[id], lines, ...view.messages.console.frame.secret });
  return card({ id: "curl", title: running.byHand, text: running.byHandText, body: shell.map(one) });
}

function factsCard(view: RunningView): Html {
  const { source, messages } = view;
  const { record } = messages.console.applications;
  const { running } = messages.console.quickstart;
  const value = (id: string, label: string, text: string) => ({
    label,
    content: copyField({ id, value: text, label, ...view.messages.console.frame.secret }),
  });
  const hasAddress = source.kind === "web" || source.kind === "spa" || source.kind === "native";
  return card({
    id: "known",
    title: running.known,
    body: facts([
      value("client-id", record.clientId, source.clientId),
      value("issuer", record.issuer, source.issuer),
      ...(hasAddress ? [value("redirect-uri", running.redirectUri, source.callback.redirectUri)] : []),
    ]),
  });
}
