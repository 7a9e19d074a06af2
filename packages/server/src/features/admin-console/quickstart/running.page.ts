/** A registered application in three steps: install, settings with its values, run; beside them a panel that waits. */
import { banner } from "../../../html/components/banner.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { copyField, copyStatus } from "../../../html/components/copy-field.ts";
import { liveStatus } from "../../../html/components/live.ts";
import { lastChangeLine } from "../../../html/components/record-form.ts";
import { type Html, html } from "../../../html/html.ts";
import { liveScript } from "../../../html/scripts.ts";
import { sdkSteps, stackSteps } from "./running-steps.page.ts";
import type { RunningView } from "./running-view.ts";
import { waitingPanel } from "./waiting.page.ts";

export function runningPage(view: RunningView): Html {
  const { messages, application } = view;
  const { running } = messages.console.quickstart;
  const steps = [
    ...(view.setup ? stackSteps(view, view.setup) : []),
    ...(view.sdk ? sdkSteps(view, view.sdk) : []),
  ];
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
${steps}${lastChangeLine(view.lastChange, messages)}</div>
<div class="with-aside-beside">${waitingPanel(view)}${factsCard(view)}</div></div>
${copyStatus}${liveStatus}`,
  });
}

function secretNotice({ messages, setup }: RunningView): Html {
  const { frame, quickstart } = messages.console;
  const { secretOnce, secretOnceSetup } = quickstart.running;
  return banner("hint", "once-notice", frame.secret.once, setup ? secretOnceSetup : secretOnce);
}

function factsCard(view: RunningView): Html {
  const { source, messages } = view;
  const { record } = messages.console.applications;
  const { running } = messages.console.quickstart;
  const value = (id: string, label: string, text: string) => ({
    label,
    content: copyField({ id, value: text, label, ...messages.console.frame.secret }),
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
