/** GET /console-kit: every component in every state. Registered in demo mode only. */
import type { FastifyInstance } from "fastify";
import { confirmActPage } from "../../html/components/act.page.ts";
import { avatar } from "../../html/components/avatar.ts";
import { badge } from "../../html/components/badge.ts";
import { card, facts } from "../../html/components/card.ts";
import { codeBlock } from "../../html/components/code-block.ts";
import { commandMenu } from "../../html/components/command-menu.ts";
import { type ConsoleFrame, consoleLayout } from "../../html/components/console-layout.ts";
import { copyStatus } from "../../html/components/copy-field.ts";
import { drawerContent } from "../../html/components/drawer.ts";
import { livePanel } from "../../html/components/live-panel.ts";
import { overflowMenu } from "../../html/components/overflow-menu.ts";
import { recordHeading } from "../../html/components/record-heading.ts";
import { stepList } from "../../html/components/step-list.ts";
import { terminalPage } from "../../html/components/terminal-page.ts";
import { wizardPage } from "../../html/components/wizard.page.ts";
import { interFont } from "../../html/fonts.ts";
import { type Html, html, render } from "../../html/html.ts";
import { type Messages, messages, preferredLocales } from "../../html/messages/messages.ts";
import { consoleStylesheet, stylesheet } from "../../html/stylesheet.ts";
import { newNonce, sendPage } from "../../http/page.ts";
import { chartCards } from "./kit-charts.ts";
import {
  buttonCard,
  copyCard,
  dialogCard,
  fieldsCard,
  identityCard,
  KIT,
  saveBarCard,
} from "./kit-controls.ts";
import { choicesSample, stateCards, tableCard, tabsSample, timelineCard } from "./kit-lists.ts";
import { bannerCard, liveCards, moreCards, overlays } from "./kit-messages.ts";

export function consoleKitRoutes(app: FastifyInstance, { clock }: { clock: () => number }): void {
  const send = (url: string, page: (frame: ConsoleFrame) => Html) =>
    app.get(url, async (request, reply) => {
      const frame = kitFrame(messages(preferredLocales(undefined, request.headers["accept-language"])));
      await sendPage(reply, render(page(frame)), { nonce: frame.nonce, hasFont: true });
      return reply;
    });
  send("/console-kit", (frame) => kitPage(frame, clock()));
  send("/console-kit/question", questionPage);
  send("/console-kit/terminal", endPage);
  send("/console-kit/record", recordPage);
  send("/console-kit/wizard", stepsPage);
}

function kitPage(frame: ConsoleFrame, now: number): Html {
  const { messages } = frame;
  return consoleLayout({
    ...frame,
    title: "Component kit",
    summary: "Every component in every state.",
    learnMoreUri: "/docs/console",
    actions: overflowMenu(
      [
        {
          id: "kit-more-delete",
          label: "Delete application",
          uri: `${KIT}/question`,
          isQuestion: true,
          isDangerous: true,
        },
        { id: "kit-more-log", label: "Audit log", uri: `${KIT}?log` },
        { id: "kit-more-terminal", label: "Terminal page", uri: `${KIT}/terminal` },
      ],
      messages,
    ),
    notice: overlays(messages),
    body: [
      tabsSample(),
      identityCard(),
      buttonCard(),
      dialogCard(),
      bannerCard(),
      tableCard(messages, now),
      saveBarCard(messages),
      fieldsCard(messages),
      copyCard(messages),
      liveCards(),
      moreCards(messages),
      choicesSample(),
      timelineCard(messages, now),
      chartCards(messages, now),
      stateCards(),
      copyStatus,
    ],
  });
}

const questionPage = (frame: ConsoleFrame): Html =>
  confirmActPage({
    ...frame,
    breadcrumbs: [{ label: "Component kit", uri: KIT }],
    heading: "Delete Payroll?",
    text: html`<p>Deleting an application is permanent. You can’t undo this.</p>`,
    confirm: "Delete permanently",
    confirmId: "kit-confirm",
    name: "Payroll",
    csrf: "",
    action: KIT,
    backUri: KIT,
  });

/** A record's head, as every record has it. */
const recordPage = (frame: ConsoleFrame): Html =>
  consoleLayout({
    ...frame,
    ...recordHeading(
      {
        name: "Payroll",
        mark: avatar("Payroll"),
        facts: [badge("good", "Enabled"), "Web application"],
        id: { id: "kit-record-id", value: "01a209a2-5120-7c8e-874c-97596cf82036", label: "Client ID" },
      },
      frame.messages,
    ),
    title: "Payroll",
    breadcrumbs: [{ label: "Component kit", uri: KIT }],
    body: drawerContent(
      card({
        id: "kit-record",
        title: "General",
        body: [facts([{ label: "Status", content: badge("good", "Enabled") }]), copyStatus],
      }),
    ),
  });

/** Steps to do elsewhere, beside a panel that sees when they are done. */
const stepsPage = (frame: ConsoleFrame): Html =>
  wizardPage({
    ...frame,
    title: "New device",
    breadcrumbs: [{ label: "Component kit", uri: KIT }],
    steps: ["Install", "Enrol", "Check"].map((title, index) => ({
      ...{ id: `kit-step-${index}`, title },
      body: codeBlock({
        ...{ id: `kit-line-${index}`, title: "Command", lines: "signet-device status" },
        ...frame.messages.console.frame.secret,
      }),
    })),
    panel: livePanel({
      ...{ id: "kit-panel", uri: `${KIT}/live`, title: "Waiting for the device" },
      ...{ state: "waiting", text: "This panel follows the device." },
      body: stepList(
        ["Install", "Enrol", "Check"].map((label, index) => ({
          ...{ id: `kit-done-${index}`, label },
          isDone: index === 0,
        })),
        frame.messages,
      ),
    }),
    shownOnce: { text: "The code works once.", doneUri: KIT },
  });

const endPage = ({ nonce, messages, organisation }: ConsoleFrame): Html =>
  terminalPage({
    ...{ nonce, messages, organisation, stylesheet: stylesheet.path },
    title: "You’re signed out",
    outcome: "success",
    text: "This browser is no longer signed in.",
    action: { id: "kit-again", label: "Sign in again", uri: KIT },
  });

const kitFrame = (messages: Messages): ConsoleFrame => ({
  messages,
  nonce: newNonce(),
  stylesheet: consoleStylesheet.path,
  font: interFont.path,
  organisation: { name: "Northwind Cooperative" },
  homeUri: KIT,
  consoleUri: () => KIT,
  navigation: {
    label: messages.console.frame.navigation,
    sections: [
      { links: [{ id: "kit", label: "Component kit", uri: KIT, isCurrent: true, icon: "application" }] },
      {
        heading: "Pages",
        links: [
          { id: "terminal", label: "Terminal page", uri: `${KIT}/terminal`, isCurrent: false, icon: "check" },
        ],
      },
    ],
  },
  user: { email: "ada@northwind.example" },
  elsewhere: [],
  signOut: { uri: KIT, csrf: "" },
  otherOrganisations: [{ name: "Harbour Clinic", uri: KIT }],
  help: [{ id: "help-api", label: messages.landing.apiReference, uri: "/docs" }],
  commandMenu: commandMenu(KIT, "kit", messages),
});
