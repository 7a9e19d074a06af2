/** A new enrolment code: three steps on the device, and a panel that waits for its first certificate. */
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { codeBlock } from "../../../html/components/code-block.ts";
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import { timeWithin } from "../../../html/components/relative-time.ts";
import { wizardPage } from "../../../html/components/wizard.page.ts";
import { type Html, html } from "../../../html/html.ts";
import { installLine, type ProgramSource } from "../../../page-kit/program-address.ts";
import { codePanel } from "./code-waiting.ts";
import { managePath } from "./page-and-api.ts";

export function codePage(
  view: ConsoleFrame &
    ProgramSource & {
      organisation: Pick<Organisation, "id">;
      id: string;
      code: string;
      expiresAt: number;
      /** Of the device. */
      name: string | undefined;
      /** That enrols it. */
      command: string;
      now: number;
    },
): Html {
  const { organisation, id, code, expiresAt, name, messages } = view;
  const { code: text, steps } = messages.devices;
  const { secret } = messages.console.frame;
  return wizardPage({
    ...view,
    title: name === undefined ? text.heading : text.headingFor({ name }),
    breadcrumbs: [{ label: messages.console.frame.pages.devices, uri: managePath(organisation) }],
    steps: [
      {
        id: "step-install",
        title: steps.install,
        text: steps.installText,
        body: codeBlock({
          ...{ id: "install-command", title: text.command, ...secret },
          lines: installLine("device-client", view),
        }),
      },
      {
        id: "step-enroll",
        title: steps.enrol,
        text: text.commandText,
        body: [
          codeBlock({ id: "enroll-command", title: text.command, lines: view.command, ...secret }),
          // Not masked: the command above has it.
          codeBlock({ id: "enrollment-code", title: text.label, lines: code, ...secret }),
        ],
      },
      {
        id: "step-check",
        title: steps.check,
        text: steps.checkText,
        body: codeBlock({
          id: "status-command",
          title: text.command,
          lines: "signet-device status",
          ...secret,
        }),
      },
    ],
    panel: codePanel(organisation, { id, deviceId: null, withdrawnAt: null, expiresAt }, view.now, messages),
    shownOnce: {
      text: html`${text.onceText} ${timeWithin(text.until({ at: expiresAt }), expiresAt, messages.format.minute)}`,
      doneUri: managePath(organisation),
    },
  });
}
