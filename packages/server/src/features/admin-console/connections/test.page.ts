/** The pages of a test sign-in: its link, which is shown once, and what came back. */
import type { ConnectionTest } from "../../../core/connections/sign-in/connection-tests.store.ts";
import type { TestResult } from "../../../core/connections/sign-in/connection-tests.ts";
import type { FailureReason } from "../../../core/connections/sign-in/failure.ts";
import type { SignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";
import { banner } from "../../../html/components/banner.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { codeBlock } from "../../../html/components/code-block.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { copyField, copyStatus } from "../../../html/components/copy-field.ts";
import { formPage } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { livePanel } from "../../../html/components/live-panel.ts";
import { table } from "../../../html/components/table.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { liveScript } from "../../../html/scripts.ts";
import { connectionPages } from "./connection-pages.ts";

export const TEST = "/test";

export const testRest = ({ id }: Pick<ConnectionTest, "id">): string => `/tests/${id}`;

export function startTestPage(view: FormView<object>, connection: SignInConnection): Html {
  const { id, name } = connection;
  const { test: text } = view.messages.console.connections;
  return formPage({
    ...view,
    breadcrumbs: connectionPages.crumbs(view, connection),
    title: text.title,
    cardLabel: text.title,
    id: "connection-test-form",
    labels: {},
    fields: html`<p>${text.text({ name })}</p>`,
    submit: { id: "connection-test-start", label: text.start },
    cancelUri: view.consoleUri(`/connections/${id}`),
  });
}

/** @param shown.url is in this answer alone */
export function testLinkPage(
  frame: ConsoleFrame,
  connection: SignInConnection,
  { test, url }: { readonly test: ConnectionTest; readonly url: string },
): Html {
  const { messages } = frame;
  const { test: text } = messages.console.connections;
  const { name } = connection;
  return consoleLayout({
    ...frame,
    breadcrumbs: connectionPages.crumbs(frame, connection),
    title: text.title,
    scripts: [liveScript.path],
    body: [
      card({
        id: "connection-test-link-card",
        title: text.linkTitle,
        text: text.linkText({ name }),
        body: [
          facts([
            {
              label: text.link,
              content: copyField({
                ...messages.console.frame.secret,
                ...{ id: "connection-test-link", value: url, label: text.link },
              }),
            },
          ]),
          html`<div class="actions"><a class="button primary" id="connection-test-open" href="${linkAddress(url)}" target="_blank" rel="noopener">${text.open({ name })}</a></div>`,
        ],
      }),
      testPanel(frame, connection, test),
      copyStatus,
    ],
  });
}

/** Goes on by itself; without scripts its link leads to the result. */
export function testPanel(
  { messages, consoleUri }: Pick<ConsoleFrame, "messages" | "consoleUri">,
  { id, name }: SignInConnection,
  test: ConnectionTest,
): Html {
  const { test: text } = messages.console.connections;
  const uri = consoleUri(`/connections/${id}${testRest(test)}`);
  const panel = { id: "connection-test-state", uri: `${uri}/state` };
  const body = html`<p><a id="connection-test-result" href="${linkAddress(uri)}">${text.show}</a></p>
`;
  if (test.outcome === "pending")
    return livePanel({ ...panel, title: text.waiting, text: text.waitingText, state: "waiting", body });
  return test.outcome === "succeeded"
    ? livePanel({ ...panel, title: text.succeeded({ name }), state: "done", body })
    : livePanel({ ...panel, title: text.failed, state: "failed", body });
}

export interface TestShown {
  readonly test: ConnectionTest;
  readonly result: TestResult | undefined;
  /** Of the groups that the claims map to. */
  readonly groupNames: readonly string[];
}

export function testResultPage(
  frame: ConsoleFrame,
  connection: SignInConnection,
  { test, result, groupNames }: TestShown,
): Html {
  const { messages } = frame;
  const { test: text } = messages.console.connections;
  const again = buttonLink({
    id: "connection-test-again",
    uri: frame.consoleUri(`/connections/${connection.id}${TEST}`),
    label: text.again,
  });
  return consoleLayout({
    ...frame,
    breadcrumbs: connectionPages.crumbs(frame, connection),
    title: text.result,
    scripts: test.outcome === "pending" ? [liveScript.path] : [],
    actions: test.outcome === "pending" ? undefined : again,
    body: [
      test.outcome === "pending"
        ? testPanel(frame, connection, test)
        : outcomeNotice(frame, connection, test, result),
      result && mappedCard(result, groupNames, messages),
      result && claimsCard(result, messages),
      copyStatus,
    ],
  });
}

/** What became of it, in words: an answer that is good may still sign nobody in. */
function outcomeNotice(
  { messages, organisation }: ConsoleFrame,
  { name }: SignInConnection,
  { outcome, reason }: ConnectionTest,
  result: TestResult | undefined,
): Html {
  const { test: text } = messages.console.connections;
  const said =
    reason !== null && reasonText(reason, { connection: name, organisation: organisation.name }, messages);
  if (outcome === "failed") return banner("error", "connection-test-outcome", text.failed, said);
  const { action, proof } = result?.account ?? { action: "refuse", proof: [] };
  const words = html`<p id="connection-test-account">${text.actions[action]} ${proof.map((one) => `${text.proofs[one]} `)}</p>${said}`;
  return banner(
    action === "refuse" ? "warning" : "success",
    "connection-test-outcome",
    text.succeeded({ name }),
    words,
  );
}

/** As the user reads it, with the code that documentation and the API know it by. */
export function reasonText(
  reason: string,
  names: { readonly connection: string; readonly organisation: string },
  { connections: { failures } }: Messages,
): Content {
  const words = Object.hasOwn(failures, reason) ? failures[reason as FailureReason](names) : undefined;
  return html`${words} <code>${reason}</code>`;
}

function mappedCard({ mapped }: TestResult, groupNames: readonly string[], messages: Messages): Html {
  const { connections: text, frame } = messages.console;
  const { groups: _, attributes, ...members } = mapped;
  const own = Object.entries(attributes).map(([name, value]) => [`attributes.${name}`, value] as const);
  const rows = [...Object.entries(members), ...own, ["groups", groupNames.join(", ")] as const].map(
    ([member, value]) => ({
      cells: [html`<code>${member}</code>`, html`<bdi>${toText(value, frame.yes, frame.no)}</bdi>`],
    }),
  );
  return card({
    id: "connection-test-mapped",
    title: text.test.mapped,
    text: text.test.mappedText,
    body: table({
      label: text.test.mapped,
      columns: [text.mapping.member, text.test.value],
      rows,
      messages,
    }),
  });
}

function toText(value: unknown, yes: string, no: string): string {
  if (value === undefined || value === null || value === "") return "–";
  if (typeof value === "boolean") return value ? yes : no;
  return typeof value === "string" ? value : JSON.stringify(value);
}

function claimsCard(
  { claims, claimsLeftOut }: TestResult,
  { console: { connections, frame } }: Messages,
): Html {
  const { test: text } = connections;
  return card({
    id: "connection-test-claims-card",
    title: text.claims,
    text: text.claimsText,
    body: [
      codeBlock({
        ...{ ...frame.secret, id: "connection-test-claims", title: text.claims },
        lines: JSON.stringify(claims, undefined, 2),
      }),
      claimsLeftOut.length > 0 &&
        html`<p class="quiet">${text.leftOut({ names: claimsLeftOut.join(", ") })}</p>`,
    ],
  });
}
